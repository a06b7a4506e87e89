import { describe, expect, test } from "vitest";
import { BenchError } from "../../../core/errors.ts";
import { amountOf } from "../../../core/ledger/amounts.ts";
import { reapDead } from "../../../core/ledger/reap-dead.ts";
import { sumPot } from "../../../core/ledger/sum-pot.ts";
import { waitForAdmission } from "../../../core/ledger/wait-for-admission.ts";
import type { AdmitRequest } from "../../../core/model/ledger-request.ts";
import { MemoryLedgerStore } from "../../fakes/memory-ledger.ts";
import { LIMITS, accountOf, inVirtualTime } from "./in-virtual-time.ts";
import { admit, admitRequest, ledgerOn, openedOn, usd } from "./ledger-builders.ts";

/** A store whose next write happens, or not, and is not answered. */
class FailingStore extends MemoryLedgerStore {
  fails: "before" | "after" | "no" = "no";

  override async write(
    ...args: Parameters<MemoryLedgerStore["write"]>
  ): ReturnType<MemoryLedgerStore["write"]> {
    const { fails } = this;
    this.fails = "no";
    if (fails === "before") throw unavailable();
    const written = await super.write(...args);
    if (fails === "after") throw unavailable();
    return written;
  }
}

function unavailable(): BenchError {
  return new BenchError("unavailable", "the ledger does not answer", { next: "wait" });
}

describe("when the ledger fails", () => {
  test.each(["before", "after"] as const)(
    "%s a lease is written, spending stops, and the end still charges what was spent and no more",
    async (moment) => {
      await inVirtualTime(async ({ clock }) => {
        const store = new FailingStore();
        const ledger = await openedOn(store, { microUsd: 1000 });
        const account = accountOf({ ledger, clock }, await admit(ledger, "one"));
        const first = await account.reserve(usd(100), LIMITS);
        if (first.kind !== "granted") throw new Error(first.kind);
        await account.settle(first.call, usd(30));
        store.fails = moment;
        await expect(account.reserve(usd(200), LIMITS)).rejects.toThrow(BenchError);
        // 70 are leased and spare; they may not be spent any more.
        await expect(account.reserve(usd(10), LIMITS)).rejects.toThrow("does not answer");
        expect(await account.close({ complete: false, unpriced: false })).toMatchObject({
          microUsd: 30,
        });
        const { settled, leased } = sumPot(await ledger.view());
        expect([settled.microUsd, leased.microUsd]).toEqual([30, 0]);
      });
    },
  );

  test("while a trial waits for money, it is told, and its end takes it out of the queue", async () => {
    await inVirtualTime(async ({ clock }) => {
      const store = new FailingStore();
      const ledger = await openedOn(store, { microUsd: 100 });
      const rich = accountOf({ ledger, clock }, await admit(ledger, "rich"));
      await rich.reserve(usd(90), LIMITS);
      const poor = accountOf({ ledger, clock }, await admit(ledger, "poor", { order: 1 }));
      const failed = poor.reserve(usd(50), LIMITS).catch((error: unknown) => error);
      await clock.sleep(1000);
      const read = store.read.bind(store);
      store.read = async () => await Promise.reject(unavailable());
      await clock.sleep(1000);
      store.read = read;
      expect(await failed).toMatchObject({ message: "the ledger does not answer" });
      await poor.close({ complete: false, unpriced: false });
      expect((await ledger.view()).shards.map(({ waiting: count }) => count)).toEqual([0, 0]);
    });
  });
});

describe("a trial's own cap", () => {
  test("ends the trial with its limit, and the pot is not asked", async () => {
    await inVirtualTime(async ({ clock, store }) => {
      const ledger = await openedOn(store, { microUsd: 1000 });
      const open = await admit(ledger, "one");
      const account = accountOf({ ledger, clock }, open, { microUsd: 100 });
      expect(await account.reserve(usd(101), LIMITS)).toMatchObject({
        kind: "trial-limit",
        unit: "microUsd",
      });
    });
  });

  test("is waited for while other calls of the trial may turn out cheaper", async () => {
    await inVirtualTime(async ({ clock, store, at }) => {
      const ledger = await openedOn(store, { microUsd: 1000 });
      const account = accountOf({ ledger, clock }, await admit(ledger, "one"), { microUsd: 100 });
      const first = await account.reserve(usd(80), LIMITS);
      if (first.kind !== "granted") throw new Error(first.kind);
      at(30_000, () => void account.settle(first.call, usd(10)));
      const second = await account.reserve(usd(80), LIMITS);
      expect(second.kind).toBe("granted");
      expect(second.heldMs).toBeGreaterThan(29_000);
      expect(await account.reserve(usd(80), { ...LIMITS, patienceMs: 5000 })).toMatchObject({
        kind: "trial-limit",
      });
    });
  });
});

describe("what is not in use", () => {
  test("is returned when the agent has ended, and the verifier's judge can still be paid", async () => {
    await inVirtualTime(async ({ clock, store }) => {
      const ledger = await openedOn(store, { microUsd: 100 });
      const least = { ...usd(50), rollouts: 1 };
      const account = accountOf({ ledger, clock }, await admit(ledger, "one", { least }));
      const call = await account.reserve(usd(20), LIMITS);
      if (call.kind !== "granted") throw new Error(call.kind);
      await account.settle(call.call, usd(15));
      await account.giveBack();
      const { remaining, earmarked, leased, settled } = sumPot(await ledger.view());
      expect(remaining.microUsd).toBe(85);
      expect([earmarked, leased, settled].map(({ microUsd }) => microUsd)).toEqual([0, 0, 15]);
      expect((await account.reserve(usd(30), LIMITS)).kind).toBe("granted");
    });
  });
});

test("a runner that restarts under its token goes on, charged for what was in the air", async () => {
  await inVirtualTime(async ({ clock, store }) => {
    const ledger = await openedOn(store, { microUsd: 100 });
    const before = accountOf({ ledger, clock }, await admit(ledger, "one"));
    await before.reserve(usd(40), LIMITS);
    const claim = await ledger.claim({ attempt: "one", token: "one", holder: "one" });
    if (claim.kind !== "claimed") throw new Error(claim.kind);
    const after = accountOf({ ledger: ledgerOn(store), clock }, claim.open);
    const call = await after.reserve(usd(30), LIMITS);
    if (call.kind !== "granted") throw new Error(call.kind);
    await after.settle(call.call, usd(3));
    const charged = await after.close({ complete: true, unpriced: false });
    expect(charged).toEqual(amountOf({ microUsd: 43, rollouts: 1 }));
    const { shards } = await ledger.view();
    expect(shards.reduce((sum, { unknown }) => sum + unknown.usd, 0)).toBe(1);
  });
});

function requestOf(attempt: string, microUsd: number): AdmitRequest {
  return admitRequest(attempt, { least: { ...usd(microUsd), rollouts: 1 } });
}

test("an admission that waits starts when money comes back, and ends when it never can", async () => {
  await inVirtualTime(async ({ clock, store, at }) => {
    const ledger = await openedOn(store, { microUsd: 100 });
    const deps = { ledger, clock };
    const first = accountOf(deps, await admit(ledger, "one"));
    const call = await first.reserve(usd(90), LIMITS);
    if (call.kind !== "granted") throw new Error(call.kind);
    at(30_000, () => {
      void first
        .settle(call.call, usd(60))
        .then(async () => await first.close({ complete: false, unpriced: false }));
    });
    const admission = await waitForAdmission(deps, requestOf("two", 20), LIMITS.signal);
    expect(admission.kind).toBe("admitted");
    expect(clock.monotonicMs()).toBeGreaterThan(30_000);
    const never = await waitForAdmission(deps, requestOf("three", 50), LIMITS.signal);
    expect(never).toEqual({ kind: "refused", unit: "microUsd" });
  });
});

test("a command that goes on with a pot returns the money of the dead, and leaves that of the others", async () => {
  await inVirtualTime(async ({ store }) => {
    const dead = new Set(["one", "three"]);
    const stateOf = async (holder: string): Promise<"dead" | "unknown"> =>
      await Promise.resolve(dead.has(holder) ? "dead" : "unknown");
    await openedOn(store, { microUsd: 100 });
    const ledger = ledgerOn(store, { stateOf });
    for (const [order, attempt] of ["one", "two", "three"].entries())
      await admit(ledger, attempt, { order, least: { ...usd(10), rollouts: 1 } });
    expect(await reapDead(ledger)).toEqual({ returned: ["one", "three"], held: ["two"] });
    expect(sumPot(await ledger.view()).earmarked.microUsd).toBe(10);
  });
});
