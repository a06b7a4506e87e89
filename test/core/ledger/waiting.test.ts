import { describe, expect, test } from "vitest";
import { leasesOf } from "../../../core/ledger/sum-pot.ts";
import type { TrialAccount } from "../../../core/ledger/trial-account.ts";
import type { Clock } from "../../../core/ports/clock.ts";
import type { Ledger } from "../../../core/ports/ledger.ts";
import type { LedgerStore } from "../../../core/ports/ledger-store.ts";
import { LIMITS, accountOf, earmarking, inVirtualTime } from "./in-virtual-time.ts";
import { admit, openedOn, usd } from "./ledger-builders.ts";

async function twoTrials(
  clock: Clock,
  store: LedgerStore,
): Promise<{ ledger: Ledger; rich: TrialAccount; poor: TrialAccount; call: string }> {
  const ledger = await openedOn(store, { microUsd: 100 });
  const rich = accountOf({ ledger, clock }, await admit(ledger, "rich"));
  const first = await rich.reserve(usd(90), LIMITS);
  if (first.kind !== "granted") throw new Error(first.kind);
  const poor = accountOf({ ledger, clock }, await admit(ledger, "poor", { order: 1 }));
  return { ledger, rich, poor, call: first.call };
}

describe("a call that waits for money", () => {
  test("is granted when it comes, and tells for how long it was held", async () => {
    await inVirtualTime(async ({ clock, store, at }) => {
      const { rich, poor, call } = await twoTrials(clock, store);
      at(40_000, () => {
        void rich.settle(call, usd(20)).then(async () => await rich.giveBack());
      });
      const reply = await poor.reserve(usd(50), LIMITS);
      expect(reply.kind).toBe("granted");
      expect(reply.heldMs).toBeGreaterThan(39_000);
      expect(reply.heldMs).toBeLessThan(42_000);
    });
  });

  test("is refused when its patience ends, and the trial with it", async () => {
    await inVirtualTime(async ({ clock, store }) => {
      const { ledger, poor } = await twoTrials(clock, store);
      const limits = { ...LIMITS, patienceMs: 20_000 };
      expect(await poor.reserve(usd(50), limits)).toMatchObject({
        kind: "refused",
        why: "no money came free in 20 s",
      });
      expect((await poor.reserve(usd(1), LIMITS)).kind).toBe("refused");
      expect(leasesOf(await ledger.view()).some(({ lease }) => lease.wants)).toBe(false);
    });
  });

  test("leaves the queue when nobody wants it any more, and the trial goes on", async () => {
    await inVirtualTime(async ({ clock, store, at }) => {
      const { ledger, poor } = await twoTrials(clock, store);
      const gone = new AbortController();
      at(10_000, () => {
        gone.abort(new Error("the agent hung up"));
      });
      const limits = { ...LIMITS, signal: gone.signal };
      await expect(poor.reserve(usd(50), limits)).rejects.toThrow("the agent hung up");
      expect(leasesOf(await ledger.view()).some(({ lease }) => lease.wants)).toBe(false);
      expect((await poor.reserve(usd(5), LIMITS)).kind).toBe("granted");
    });
  });

  test("first returns what its trial does not use, so that an older one can go on with it", async () => {
    await inVirtualTime(async ({ clock, store }) => {
      const ledger = await openedOn(store, { microUsd: 100 });
      const deps = { ledger, clock };
      const old = accountOf(deps, await admit(ledger, "old", earmarking(20)));
      const young = accountOf(deps, await admit(ledger, "young", { ...earmarking(40), order: 1 }));
      // 40 remain, 40 are earmarked for the young one, which asks for more than both.
      const waiting = young.reserve(usd(90), LIMITS);
      await clock.sleep(1000);
      const reply = await old.reserve(usd(75), LIMITS);
      expect(reply.kind).toBe("granted");
      if (reply.kind === "granted") await old.settle(reply.call, usd(5));
      await old.close({ complete: true, unpriced: false });
      expect((await waiting).kind).toBe("granted");
    });
  });

  test("is not overtaken by a younger trial, whose call would fit into what remains", async () => {
    await inVirtualTime(async ({ clock, store, at }) => {
      const ledger = await openedOn(store, { microUsd: 100 }, 1);
      const deps = { ledger, clock };
      const [rich, old, young] = [
        accountOf(deps, await admit(ledger, "rich")),
        accountOf(deps, await admit(ledger, "old", { order: 1 })),
        accountOf(deps, await admit(ledger, "young", { order: 2 })),
      ];
      const first = await rich.reserve(usd(60), LIMITS);
      if (first.kind !== "granted") throw new Error(first.kind);
      const served: string[] = [];
      const reserve = async (name: string, account: typeof old, worst: number): Promise<void> => {
        const reply = await account.reserve(usd(worst), LIMITS);
        served.push(name);
        if (reply.kind === "granted") await account.settle(reply.call, usd(0));
      };
      const waiting = reserve("old", old, 50);
      await clock.sleep(1000);
      const younger = reserve("young", young, 10);
      at(20_000, () => {
        void rich.settle(first.call, usd(0)).then(async () => await rich.giveBack());
      });
      await Promise.all([waiting, younger]);
      expect(served).toEqual(["old", "young"]);
    });
  });

  test("is granted from its own trial's other call, when that was cheaper", async () => {
    await inVirtualTime(async ({ clock, store, at }) => {
      const ledger = await openedOn(store, { microUsd: 100 });
      const account = accountOf({ ledger, clock }, await admit(ledger, "one"));
      const first = await account.reserve(usd(80), LIMITS);
      if (first.kind !== "granted") throw new Error(first.kind);
      at(20_000, () => void account.settle(first.call, usd(10)));
      expect((await account.reserve(usd(80), LIMITS)).kind).toBe("granted");
    });
  });
});

describe("when nothing moves in the pot for a minute", () => {
  test("the youngest trial is told to end, and those that wait go on with its money", async () => {
    await inVirtualTime(async ({ clock, store }) => {
      const ledger = await openedOn(store, { microUsd: 100 });
      const deps = { ledger, clock };
      const old = accountOf(deps, await admit(ledger, "old"));
      // It runs a long tool and asks the ledger for nothing.
      const young = accountOf(deps, await admit(ledger, "young", { order: 2, ...earmarking(45) }));
      const waiting = old.reserve(usd(60), LIMITS);
      await clock.sleep(59_000);
      expect(await young.check()).toBeNull();
      await clock.sleep(10_000);
      // Its next call is refused, though its own earmark has the money, and so is every later one.
      expect(await young.reserve(usd(1), LIMITS)).toMatchObject({ kind: "refused", unit: null });
      expect(await young.check()).not.toBeNull();
      await young.close({ complete: false, unpriced: false });
      const reply = await waiting;
      expect(reply.kind).toBe("granted");
      expect(reply.heldMs).toBeLessThan(75_000);
    });
  });

  test("a waiting trial that is itself the youngest ends", async () => {
    await inVirtualTime(async ({ clock, store }) => {
      const ledger = await openedOn(store, { microUsd: 100 });
      const deps = { ledger, clock };
      const old = accountOf(deps, await admit(ledger, "old"));
      await old.reserve(usd(60), LIMITS);
      const young = accountOf(deps, await admit(ledger, "young", { order: 1 }));
      const reply = await young.reserve(usd(60), LIMITS);
      expect(reply).toMatchObject({ kind: "refused", unit: null });
      expect(reply.heldMs).toBeGreaterThan(60_000);
      expect(await old.check()).toBeNull();
    });
  });

  test("while others spend, nobody has to end, however long one waits", async () => {
    await inVirtualTime(async ({ clock, store }) => {
      const ledger = await openedOn(store, { microUsd: 1000 });
      const deps = { ledger, clock };
      const busy = accountOf(deps, await admit(ledger, "busy"));
      const poor = accountOf(deps, await admit(ledger, "poor", { order: 1 }));
      const waiting = poor.reserve(usd(990), LIMITS);
      for (let call = 0; call < 10; call += 1) {
        await clock.sleep(50_000);
        const reply = await busy.reserve(usd(1), LIMITS);
        expect(reply.kind).toBe("granted");
      }
      await busy.close({ complete: true, unpriced: false });
      expect((await waiting).kind).toBe("granted");
    });
  });
});
