import assert from "node:assert/strict";
import { BenchError } from "../../../core/errors.ts";
import { NO_CAPS } from "../../../core/ledger/caps.ts";
import { stopOf, sumPot } from "../../../core/ledger/sum-pot.ts";
import {
  LIMITS,
  aTrial,
  accountOf,
  admitted,
  assertMoney,
  drawOf,
  newLedger,
  openLedger,
  openPot,
  usd,
} from "./assert-ledger.ts";
import type { LedgerPromise } from "./ledger-promise.ts";

/** What a pot promises about its caps, its commands and what stops it. */
export const potPromises: readonly LedgerPromise[] = [
  {
    promise: "a pot starts with its caps, split over shards without a remainder",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, {
        caps: { microUsd: 1000, rollouts: 3 },
        width: 200,
      });
      const view = await ledger.view();
      assert.equal(view.shards.length, 7);
      assert.equal(sumPot(view).remaining.rollouts, 3);
      await assertMoney(ledger, { remaining: 1000, held: 0, settled: 0 });
    },
  },
  {
    promise: "commands that race to open a pot open one",
    check: async (fixture) => {
      const ledgers = await Promise.all(
        Array.from({ length: 8 }, async () => await newLedger(fixture)),
      );
      const request = { caps: { ...NO_CAPS, microUsd: 700 }, width: 64, breakerThreshold: 5 };
      const views = await Promise.all(ledgers.map(async (ledger) => await ledger.open(request)));
      for (const view of views) assert.equal(sumPot(view).remaining.microUsd, 700);
    },
  },
  {
    promise: "a pot that nobody opened is an error that says so",
    check: async (fixture) => {
      await assert.rejects(
        (await newLedger(fixture)).view(),
        (error) => error instanceof BenchError && error.message.includes("there is no pot"),
      );
    },
  },
  {
    promise: "a cap of 0 spends nothing",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { microUsd: 0 } });
      const refused = await ledger.admit(aTrial("dear", { least: usd(1) }));
      assert.deepEqual(refused, { kind: "refused", unit: "microUsd" });
      // A trial that needs none, an oracle's, may run; its first paid call may not.
      const account = accountOf(ledger, await admitted(ledger, aTrial("free")));
      const reply = await account.reserve(usd(1), LIMITS);
      assert.equal(reply.kind, "refused");
      await assertMoney(ledger, { remaining: 0, held: 0, settled: 0 });
    },
  },
  {
    promise: "a cap of 0 attempts starts none",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { rollouts: 0 } });
      assert.deepEqual(await ledger.admit(aTrial("one")), { kind: "refused", unit: "rollouts" });
    },
  },
  {
    promise: "a negative cap is a usage error, and makes no pot",
    check: async (fixture) => {
      const ledger = await newLedger(fixture);
      const open = openPot(ledger, { caps: { microUsd: -1 } });
      await assert.rejects(open, (error) => error instanceof BenchError && error.kind === "usage");
      await assert.rejects(ledger.view());
    },
  },
  {
    promise: "a resume counts what was spent before",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { microUsd: 100 } });
      const account = accountOf(ledger, await admitted(ledger, aTrial("one")));
      const call = await account.reserve(usd(60), LIMITS);
      assert.ok(call.kind === "granted");
      await account.settle(call.call, usd(45));
      await account.close({ complete: true, unpriced: false });
      const resumed = await openLedger(fixture, { caps: { microUsd: 100 } });
      await assertMoney(resumed, { remaining: 55, held: 0, settled: 45 });
    },
  },
  {
    promise: "a cap that is raised while trials run serves a call that was short before",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { microUsd: 100 }, width: 64 });
      const [one, two] = [aTrial("one"), aTrial("two", { order: 1 })];
      const first = await admitted(ledger, one);
      const second = await admitted(ledger, two);
      assert.equal((await ledger.draw(drawOf(first, 1, { microUsd: 80 }))).kind, "granted");
      const short = drawOf(second, 1, { microUsd: 50 });
      assert.equal((await ledger.draw(short)).kind, "short");
      await openPot(await newLedger(fixture), { caps: { microUsd: 140 }, width: 64 });
      assert.equal((await ledger.draw(short)).kind, "granted");
      await assertMoney(ledger, { remaining: 10, held: 130, settled: 0 });
    },
  },
  {
    promise: "a cap raised twice by the same command is raised once",
    check: async (fixture) => {
      await openLedger(fixture, { caps: { microUsd: 100 }, width: 64 });
      const ledgers = await Promise.all([1, 2, 3].map(async () => await newLedger(fixture)));
      const raised = { caps: { microUsd: 150 }, width: 64 };
      await Promise.all(ledgers.map(async (ledger) => await openPot(ledger, raised)));
      await assertMoney(await newLedger(fixture), { remaining: 150, held: 0, settled: 0 });
    },
  },
  {
    promise: "a cap lowered under what trials hold is a usage error; idle, the pot is overspent",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { microUsd: 100 }, width: 64 });
      const account = accountOf(ledger, await admitted(ledger, aTrial("one")));
      const call = await account.reserve(usd(80), LIMITS);
      assert.ok(call.kind === "granted");
      const lower = { caps: { microUsd: 50 }, width: 64 };
      await assert.rejects(
        openPot(ledger, lower),
        (error) => error instanceof BenchError && error.kind === "usage",
      );
      await account.close({ complete: false, unpriced: false });
      await openPot(ledger, lower);
      await assertMoney(ledger, { remaining: -30, held: 0, settled: 80 });
      const refused = await ledger.admit(aTrial("two", { least: usd(1) }));
      assert.deepEqual(refused, { kind: "refused", unit: "microUsd" });
    },
  },
  {
    promise:
      "a stopped pot admits and leases nothing, lets trials settle, and the next command clears it",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { microUsd: 100 }, width: 64 });
      const open = await admitted(ledger, aTrial("one"));
      const account = accountOf(ledger, open);
      const call = await account.reserve(usd(10), LIMITS);
      assert.ok(call.kind === "granted");
      const stop = { kind: "cancelled", reason: "cancelled by its owner" } as const;
      await ledger.stop(stop);
      assert.deepEqual(await ledger.admit(aTrial("two")), { kind: "stopped", stop });
      assert.equal((await account.check())?.why, stop.reason);
      assert.equal((await account.reserve(usd(10), LIMITS)).kind, "refused");
      await account.settle(call.call, usd(4));
      await account.close({ complete: false, unpriced: false });
      await assertMoney(ledger, { remaining: 96, held: 0, settled: 4 });
      await openPot(await newLedger(fixture), { caps: { microUsd: 100 }, width: 64 });
      await admitted(ledger, aTrial("two"));
    },
  },
  {
    promise: "five distinct trials in a row that the provider refuses stop the pot",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: {} });
      const note = async (trial: string, refusedByProvider: boolean): Promise<void> =>
        await ledger.noteEnding({ trial, refusedByProvider });
      for (const trial of ["a", "b", "c", "d"]) await note(trial, true);
      await note("e", false);
      for (const trial of ["a", "b", "c", "d", "d", "d"]) await note(trial, true);
      assert.equal(stopOf(await ledger.view()), null);
      await note("e", true);
      assert.equal(stopOf(await ledger.view())?.kind, "breaker");
      await openPot(ledger, { caps: {} });
      for (const trial of ["a", "b", "c", "d"]) await note(trial, true);
      assert.equal(stopOf(await ledger.view()), null);
    },
  },
];
