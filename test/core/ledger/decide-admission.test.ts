import { describe, expect, test } from "vitest";
import { amountOf } from "../../../core/ledger/amounts.ts";
import { NO_CAPS } from "../../../core/ledger/caps.ts";
import { decideAdmission, earmarkFor } from "../../../core/ledger/decide-admission.ts";
import type { Lease, PotShard } from "../../../core/model/ledger-pot.ts";
import { aLease, aShard, aView, admitRequest, usd } from "./ledger-builders.ts";

const caps = { microUsd: 1000 };
const least = amountOf({ microUsd: 10, rollouts: 1 });
const request = admitRequest("new", { least });
const plenty = amountOf({ microUsd: 1000, tokens: 1e6, sandboxMs: 1e6, rollouts: 1e6 });

function running(count: number, over: Partial<Lease> = {}): Record<string, Lease> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`running-${String(at)}`, aLease(over)]),
  );
}

function learned(peaks: Record<string, number>, samples: number): Partial<PotShard> {
  return { remaining: plenty, samples: { s: samples }, peaks };
}

function part(microUsd: number): PotShard {
  return aShard({ remaining: { ...plenty, microUsd } });
}

describe("what is set aside for a trial", () => {
  test("is its own cap where it has one, whatever others needed", () => {
    const view = aView([aShard(learned({ "s|microUsd|64": 30 }, 30))], caps);
    const trialCaps = { ...NO_CAPS, microUsd: 77 };
    expect(earmarkFor(view, { ...request, trialCaps })).toEqual(usd(77));
  });

  test("is what 95 of 100 of its setting needed, and never less than its dearest call", () => {
    const peaks = { "s|microUsd|40": 10, "s|microUsd|64": 9, "s|microUsd|900": 1 };
    const shards = [aShard(learned(peaks, 20)), aShard(learned({ "other|microUsd|999": 99 }, 0))];
    expect(earmarkFor(aView(shards, caps), request).microUsd).toBe(64);
    const dear = amountOf({ microUsd: 500, rollouts: 1 });
    expect(earmarkFor(aView(shards, caps), { ...request, least: dear }).microUsd).toBe(500);
  });

  test("is counted over all shards, and is the largest seen while few have ended", () => {
    const shards = [
      aShard(learned({ "s|microUsd|64": 2 }, 2)),
      aShard(learned({ "s|microUsd|80": 1 }, 1)),
    ];
    expect(earmarkFor(aView(shards, caps), request).microUsd).toBe(80);
  });

  test("is nothing of a unit that it cannot use, whatever others needed", () => {
    const view = aView([aShard(learned({ "s|microUsd|64": 30 }, 30))], caps);
    const free = amountOf({ rollouts: 1 });
    expect(earmarkFor(view, { ...request, least: free }).microUsd).toBe(0);
  });

  test("is nothing of a unit without a cap", () => {
    const view = aView([aShard(learned({ "s|tokens|64": 30 }, 30))], caps);
    expect(earmarkFor(view, request).tokens).toBe(0);
  });
});

describe("a trial starts", () => {
  test("without a dollar where it needs none, even from a pot that is overspent", () => {
    const free = amountOf({ rollouts: 1 });
    const shard = { remaining: { ...plenty, microUsd: -500 }, samples: { s: 30 } };
    const view = aView([aShard({ ...shard, peaks: { "s|microUsd|64": 30 } })], { microUsd: 0 });
    expect(decideAdmission(view, { ...request, least: free }).kind).toBe("admit");
    expect(decideAdmission(view, request)).toEqual({ kind: "refused", unit: "microUsd" });
  });

  test("only when the pot can set its money aside, and never when the pot could not serve it", () => {
    const rich = aView([aShard({ remaining: { ...plenty, microUsd: 20 } })], caps);
    expect(decideAdmission(rich, request).kind).toBe("admit");
    const held = { ...aLease({ leased: usd(50) }) };
    const poor = aView([aShard({ remaining: { ...plenty, microUsd: 9 }, leases: { held } })], caps);
    expect(decideAdmission(poor, request)).toEqual({ kind: "wait", why: "short" });
    const empty = aView([aShard({ remaining: { ...plenty, microUsd: 9 } })], caps);
    expect(decideAdmission(empty, request)).toEqual({ kind: "refused", unit: "microUsd" });
  });

  test("as one of at most 20 of its setting until 20 have ended", () => {
    const leases = running(20);
    const others = running(30, { setting: "other" });
    const pot = (shard: Partial<PotShard>): ReturnType<typeof decideAdmission> =>
      decideAdmission(aView([aShard({ remaining: plenty, ...shard })], caps), request);
    expect(pot({ leases })).toEqual({ kind: "wait", why: "learning" });
    expect(pot({ leases: others }).kind).toBe("admit");
    expect(pot({ leases, samples: { s: 19 } })).toEqual({ kind: "wait", why: "learning" });
    expect(pot({ leases, samples: { s: 20 } }).kind).toBe("admit");
    const trialCaps = { ...NO_CAPS, microUsd: 10 };
    const view = aView([aShard({ remaining: plenty, leases })], caps);
    expect(decideAdmission(view, { ...request, trialCaps }).kind).toBe("admit");
    // A pot without caps on money learns nothing that it needs.
    const uncapped = aView([aShard({ remaining: plenty, leases })], { rollouts: 50 });
    expect(decideAdmission(uncapped, request).kind).toBe("admit");
  });

  test("not while anyone waits for money", () => {
    const leases = { waiter: aLease({ wants: usd(5) }) };
    const view = aView([aShard({ remaining: plenty }), aShard({ leases })], caps);
    expect(decideAdmission(view, request)).toEqual({ kind: "wait", why: "short" });
  });

  test("only while half of what the pot could serve with one dearest call each run", () => {
    const least200 = amountOf({ microUsd: 200, rollouts: 1 });
    const pot = (count: number): ReturnType<typeof decideAdmission> =>
      decideAdmission(aView([aShard({ remaining: plenty, leases: running(count) })], caps), {
        ...request,
        least: least200,
      });
    expect(pot(1).kind).toBe("admit");
    expect(pot(2)).toEqual({ kind: "wait", why: "width" });
  });

  test("not in a pot that any shard says is stopped", () => {
    const stop = { kind: "cancelled", reason: "by hand" } as const;
    const view = aView([aShard({ remaining: plenty }), aShard({ stop })], caps);
    expect(decideAdmission(view, request)).toEqual({ kind: "stopped", stop });
  });

  test("with money from several shards where none has enough, from the fullest first", () => {
    const decision = decideAdmission(aView([part(4), part(5), part(3)], caps), request);
    expect(decision).toMatchObject({
      kind: "admit",
      sources: {
        shard: 0,
        own: { microUsd: 4, rollouts: 1 },
        donors: [
          { shard: 1, amount: { microUsd: 5 } },
          { shard: 2, amount: { microUsd: 1 } },
        ],
      },
    });
  });

  test("in a shard that is not crowded, even if another one has more", () => {
    const crowded = aShard({ remaining: plenty, leases: running(48), samples: { s: 20 } });
    const view = aView([crowded, aShard({ remaining: usd(2) })], caps);
    expect(decideAdmission(view, request)).toMatchObject({ sources: { shard: 1 } });
  });
});
