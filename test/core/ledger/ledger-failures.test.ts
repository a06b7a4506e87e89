import { describe, expect, test } from "vitest";
import { NO_CAPS } from "../../../core/ledger/caps.ts";
import { sumPot } from "../../../core/ledger/sum-pot.ts";
import { waitForAdmission } from "../../../core/ledger/wait-for-admission.ts";
import type { Clock } from "../../../core/ports/clock.ts";
import type { Deaths, Ledger } from "../../../core/ports/ledger.ts";
import { LIMITS, accountOf, inVirtualTime } from "./in-virtual-time.ts";
import { admit, admitRequest, ledgerOn, openedOn, usd } from "./ledger-builders.ts";

const ALL_DEAD: Deaths = { stateOf: async () => await Promise.resolve("dead") };
const CLOSED = { complete: true, unpriced: false };

/** A whole trial of one call: how it ended. */
async function runTrial(
  deps: { ledger: Ledger; clock: Clock },
  attempt: string,
  { setting = "s", worst = 100, actual = 60, order = 0 } = {},
): Promise<"scored" | "refused" | "not started"> {
  const least = { ...usd(worst), rollouts: 1 };
  const request = admitRequest(attempt, { setting, least, order });
  const admission = await waitForAdmission(deps, request, LIMITS.signal);
  if (admission.kind !== "admitted") return "not started";
  const account = accountOf(deps, admission.open);
  const call = await account.reserve(usd(worst), LIMITS);
  if (call.kind === "granted") {
    await deps.clock.sleep(1000);
    await account.settle(call.call, usd(actual));
  }
  await account.close(CLOSED);
  return call.kind === "granted" ? "scored" : "refused";
}

describe("failures that other tools had, as kinds", () => {
  test("C-32: a cap for three of 50 trials stops the other 47 before they start", async () => {
    await inVirtualTime(async ({ clock, store }) => {
      const deps = { ledger: await openedOn(store, { microUsd: 300 }), clock };
      const trials = Array.from({ length: 50 }, async (_, order) =>
        runTrial(deps, `trial-${String(order)}`, { actual: 100, order }),
      );
      const ends = await Promise.all(trials);
      expect(ends.filter((end) => end === "scored")).toHaveLength(3);
      expect(ends.filter((end) => end === "not started")).toHaveLength(47);
      expect(sumPot(await deps.ledger.view()).settled.microUsd).toBe(300);
    });
  });

  test("C-33: calls of one trial that pass at the same moment do not pass on the same balance", async () => {
    await inVirtualTime(async ({ clock, store }) => {
      const ledger = await openedOn(store, { microUsd: 500 });
      const account = accountOf({ ledger, clock }, await admit(ledger, "one"));
      const limits = { ...LIMITS, patienceMs: 5000 };
      const calls = [1, 2, 3, 4].map(async () => await account.reserve(usd(135), limits));
      const replies = await Promise.all(calls);
      expect(replies.map(({ kind }) => kind)).toEqual(["granted", "granted", "granted", "refused"]);
    });
  });

  test("C-20, C-34: agents of one command draw from one pot, under the same cap", async () => {
    await inVirtualTime(async ({ clock, store }) => {
      const ledger = await openedOn(store, { microUsd: 400 });
      const [one, other] = [ledger, ledgerOn(store)];
      const ends = await Promise.all(
        [0, 1, 2, 3, 4, 5].map(async (order) =>
          runTrial({ ledger: order % 2 === 0 ? one : other, clock }, `trial-${String(order)}`, {
            setting: order % 2 === 0 ? "agent-a" : "agent-b",
            actual: 100,
            order,
          }),
        ),
      );
      expect(ends.filter((end) => end === "scored")).toHaveLength(4);
      expect(sumPot(await ledger.view()).settled.microUsd).toBe(400);
    });
  });

  test("C-38: what was spent is not forgotten by a restart", async () => {
    await inVirtualTime(async ({ clock, store }) => {
      for (const restart of [0, 1, 2]) {
        const ledger = await openedOn(store, { microUsd: 150 });
        await runTrial({ ledger, clock }, `trial-${String(restart)}`);
      }
      const { settled, remaining } = sumPot(await ledgerOn(store).view());
      expect([settled.microUsd, remaining.microUsd]).toEqual([60, 90]);
    });
  });

  test("C-39: an agent whose attempt has ended gets no further call", async () => {
    await inVirtualTime(async ({ clock, store }) => {
      await openedOn(store, { microUsd: 1000 });
      const ledger = ledgerOn(store, ALL_DEAD);
      const closed = accountOf({ ledger, clock }, await admit(ledger, "closed"));
      await closed.reserve(usd(10), LIMITS);
      await closed.close(CLOSED);
      expect((await closed.reserve(usd(10), LIMITS)).kind).toBe("refused");
      const trialCaps = { ...NO_CAPS, microUsd: 100 };
      const reaped = accountOf({ ledger, clock }, await admit(ledger, "reaped", { trialCaps }));
      await reaped.reserve(usd(10), LIMITS);
      await ledger.reap("reaped");
      expect((await reaped.check())?.why).toBe("the attempt has been ended by another process");
      expect((await reaped.reserve(usd(10), LIMITS)).kind).toBe("refused");
    });
  });
});
