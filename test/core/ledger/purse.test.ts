import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { covers, isNothing, minus, plus } from "../../../core/ledger/amounts.ts";
import { NO_CAPS } from "../../../core/ledger/caps.ts";
import {
  deficitOf,
  moveLease,
  openCall,
  openPurse,
  reservedOf,
  settleCall,
  spareOf,
  unreportedOf,
} from "../../../core/ledger/purse.ts";
import type { Purse } from "../../../core/ledger/purse.ts";
import type { Caps } from "../../../core/model/ledger-amount.ts";
import type { Lease } from "../../../core/model/ledger-pot.ts";
import { aLease, usd } from "./ledger-builders.ts";

function aPurse(lease: Partial<Lease> = {}, trialCaps: Partial<Caps> = {}): Purse {
  const sizing = { width: 1, remaining: usd(1e9) };
  const open = { attempt: "a", shard: 0, capped: ["microUsd" as const], sizing };
  return openPurse({ ...open, lease: aLease(lease) }, { ...NO_CAPS, ...trialCaps });
}

/** A purse whose lease was drawn: nothing but spare money. */
function funded(microUsd: number, trialCaps: Partial<Caps> = {}): Purse {
  return moveLease(aPurse({}, trialCaps), { did: "draw", fromPot: usd(microUsd) });
}

function opened(purse: Purse, call: string, microUsd: number): Purse {
  const decision = openCall(purse, call, usd(microUsd));
  if (decision.kind !== "open") throw new Error(decision.kind);
  return decision.purse;
}

describe("a call", () => {
  test("is open when the lease covers its worst case beside all that is open", () => {
    const one = opened(funded(100), "1", 60);
    expect(openCall(one, "2", usd(40)).kind).toBe("open");
    expect(openCall(one, "2", usd(41))).toMatchObject({
      kind: "draw",
      fromEarmark: usd(0),
      fromPot: usd(1),
    });
  });

  test("takes from the earmark first, a whole lease of it, and from the pot only what it lacks", () => {
    const wide = {
      ...aPurse({ earmarked: usd(250) }),
      sizing: { width: 300, remaining: usd(1e9) },
    };
    expect(openCall(wide, "1", usd(60))).toMatchObject({ fromEarmark: usd(180), fromPot: usd(0) });
    const poor = { ...wide, lease: aLease({ earmarked: usd(50) }) };
    expect(openCall(poor, "1", usd(60))).toMatchObject({ fromEarmark: usd(50), fromPot: usd(10) });
  });

  test("takes a whole lease of what has no cap, which is never short", () => {
    const purse = { ...aPurse(), sizing: { width: 300, remaining: usd(1e9) } };
    const worst = { ...usd(10), tokens: 7 };
    const fromPot = { ...usd(10), tokens: 21 };
    expect(openCall(purse, "1", worst)).toMatchObject({ kind: "draw", fromPot });
  });

  test("that is settled gives back what it did not need, once", () => {
    const open = opened(funded(100), "1", 60);
    const { purse } = settleCall(open, "1", usd(25));
    expect(spareOf(purse)).toEqual(usd(75));
    expect(settleCall(purse, "1", usd(25))).toEqual({ purse, anomaly: null });
    expect(settleCall(purse, "never", usd(25))).toEqual({ purse, anomaly: null });
  });

  test("above its reservation is an anomaly, and what it lacks is told", () => {
    const open = opened(opened(funded(100), "1", 60), "2", 40);
    const { purse, anomaly } = settleCall(open, "1", usd(75));
    expect(anomaly).toMatchObject({ attempt: "a", reserved: usd(60), actual: usd(75) });
    expect(anomaly?.detail).toBe("a call of a took 75 microUsd, above its reservation of 60");
    expect(deficitOf(purse)).toEqual(usd(15));
  });

  test("beyond the trial's own cap is its limit, for good once spending has reached it", () => {
    const open = opened(funded(500, { microUsd: 100 }), "1", 60);
    expect(openCall(open, "2", usd(50))).toEqual({ kind: "limit", unit: "microUsd", full: false });
    const { purse: cheap } = settleCall(open, "1", usd(20));
    expect(openCall(cheap, "2", usd(50)).kind).toBe("open");
    const { purse: dear } = settleCall(open, "1", usd(51));
    expect(openCall(dear, "2", usd(50))).toEqual({ kind: "limit", unit: "microUsd", full: true });
  });
});

describe("a purse", () => {
  test("of a restarted runner has in use whatever its lease held before", () => {
    const purse = aPurse({ seq: 3, did: "draw", leased: usd(70), settled: usd(5) });
    expect(purse.spent).toEqual(usd(5));
    expect(reservedOf(purse)).toEqual(usd(70));
    expect(spareOf(purse)).toEqual(usd(0));
  });

  test("of a new attempt has spent its start", () => {
    const purse = aPurse({ leased: { ...usd(0), rollouts: 1 } });
    expect(purse.spent.rollouts).toBe(1);
    expect(unreportedOf(purse).rollouts).toBe(1);
  });

  type Act =
    | { do: "call"; worst: number }
    | { do: "settle"; call: number; share: number }
    | { do: "report" }
    | { do: "give" };
  const act: fc.Arbitrary<Act> = fc.oneof(
    fc.record({ do: fc.constant("call" as const), worst: fc.integer({ min: 0, max: 100 }) }),
    fc.record({
      do: fc.constant("settle" as const),
      call: fc.nat(9),
      share: fc.integer({ min: 0, max: 100 }),
    }),
    fc.record({ do: fc.constant("report" as const) }),
    fc.record({ do: fc.constant("give" as const) }),
  );

  function play(purse: Purse, acts: readonly Act[], check: (purse: Purse) => void): Purse {
    let now = purse;
    let calls = 0;
    for (const each of acts) {
      if (each.do === "call") {
        calls += 1;
        let decision = openCall(now, String(calls), usd(each.worst));
        if (decision.kind === "draw") {
          const { fromEarmark, fromPot } = decision;
          now = moveLease(now, { did: "draw", settle: unreportedOf(now), fromEarmark, fromPot });
          check(now);
          decision = openCall(now, String(calls), usd(each.worst));
        }
        if (decision.kind !== "open") throw new Error(`call: ${decision.kind}`);
        now = decision.purse;
      } else if (each.do === "settle") {
        const worst = now.calls.get(String(each.call))?.microUsd ?? 0;
        const actual = usd(Math.floor((worst * each.share) / 100));
        now = settleCall(now, String(each.call), actual).purse;
      } else if (each.do === "report") {
        now = moveLease(now, { did: "draw", settle: unreportedOf(now) });
      } else {
        now = moveLease(now, {
          did: "give",
          settle: unreportedOf(now),
          giveEarmark: now.lease.earmarked,
          giveLeased: spareOf(now),
        });
      }
      check(now);
    }
    return now;
  }

  test("never has more in use than it leased, and never charges less than was spent", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40 }), fc.nat(300), (acts, earmark) => {
        play(aPurse({ earmarked: usd(earmark) }), acts, (purse) => {
          const nothing = usd(0);
          expect(covers(spareOf(purse), nothing)).toBe(true);
          expect(covers(unreportedOf(purse), nothing)).toBe(true);
          expect(isNothing(deficitOf(purse))).toBe(true);
          expect(covers(purse.lease.earmarked, nothing)).toBe(true);
          const used = plus(purse.spent, reservedOf(purse));
          const { settled, leased } = purse.lease;
          expect(covers(minus(plus(settled, leased), used), nothing)).toBe(true);
          expect(covers(purse.peak, used)).toBe(true);
        });
      }),
    );
  });
});
