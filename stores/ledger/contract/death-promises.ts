import assert from "node:assert/strict";
import { amountOf } from "../../../core/ledger/amounts.ts";
import {
  LIMITS,
  aTrial,
  accountOf,
  admitted,
  assertMoney,
  newLedger,
  openLedger,
  usd,
} from "./assert-ledger.ts";
import type { LedgerPromise } from "./ledger-promise.ts";

/** What a pot promises about the money of those that died. */
export const deathPromises: readonly LedgerPromise[] = [
  {
    promise: "a runner killed between reserve and settle is charged all that it had leased, once",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { microUsd: 100 }, width: 64 });
      const { holder, kill } = await fixture.startHolder();
      const least = amountOf({ microUsd: 30, rollouts: 1 });
      const claim = { token: "token of one", holder };
      const open = await admitted(ledger, aTrial("one", { least, claim }));
      const account = accountOf(ledger, open, holder);
      const settled = await account.reserve(usd(10), LIMITS);
      assert.ok(settled.kind === "granted");
      await account.settle(settled.call, usd(4));
      assert.equal((await account.reserve(usd(20), LIMITS)).kind, "granted");
      await kill();
      const reapers = await Promise.all([1, 2, 3].map(async () => await newLedger(fixture)));
      const replies = await Promise.all(reapers.map(async (reaper) => await reaper.reap("one")));
      const returned = replies.filter(({ kind }) => kind === "returned");
      assert.equal(returned.length, 1);
      // 4 were settled when 20 were leased; of what was earmarked 6 were never leased.
      await assertMoney(ledger, { remaining: 76, held: 0, settled: 24 });
      assert.deepEqual(await ledger.reap("one"), { kind: "gone" });
      // What the dead one sent late changes nothing.
      assert.equal((await account.reserve(usd(90), LIMITS)).kind, "refused");
      await account.close({ complete: true, unpriced: false });
      await assertMoney(ledger, { remaining: 76, held: 0, settled: 24 });
    },
  },
  {
    promise:
      "money returns only when its holder is proven dead, not while it lives or nobody can tell",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { microUsd: 100 } });
      const { holder, kill } = await fixture.startHolder();
      const least = amountOf({ microUsd: 20, rollouts: 1 });
      const holders = { near: holder, far: fixture.foreignHolder };
      for (const [attempt, its] of Object.entries(holders)) {
        const claim = { token: `token of ${attempt}`, holder: its };
        await admitted(ledger, aTrial(attempt, { least, claim }));
      }
      assert.deepEqual(await ledger.reap("near"), { kind: "held", holder, state: "alive" });
      const far = { kind: "held", holder: fixture.foreignHolder, state: "unknown" };
      assert.deepEqual(await ledger.reap("far"), far);
      await assertMoney(ledger, { remaining: 60, held: 40, settled: 0 });
      await kill();
      assert.equal((await ledger.reap("near")).kind, "returned");
      assert.deepEqual(await ledger.reap("far"), far);
      await assertMoney(ledger, { remaining: 80, held: 20, settled: 0 });
    },
  },
  {
    promise: "an attempt that no runner claimed is returned whole, and can be claimed no more",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { microUsd: 100, rollouts: 5 } });
      const least = amountOf({ microUsd: 30, rollouts: 1 });
      await admitted(ledger, aTrial("one", { least, claim: null }));
      const reply = await ledger.reap("one");
      assert.deepEqual(reply, { kind: "returned", spent: amountOf({}) });
      const claim = { attempt: "one", token: "late runner", holder: "nobody" };
      assert.deepEqual(await ledger.claim(claim), { kind: "gone" });
      await assertMoney(ledger, { remaining: 100, held: 0, settled: 0 });
      assert.equal((await ledger.view()).shards[0]?.remaining.rollouts, 5);
    },
  },
  {
    promise: "a claim that races with the return of its lease: one of the two happens",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { microUsd: 100 } });
      const least = amountOf({ microUsd: 5, rollouts: 1 });
      for (let race = 0; race < 10; race += 1) {
        const attempt = `race ${String(race)}`;
        await admitted(ledger, aTrial(attempt, { least, claim: null }));
        const [runner, reaper] = [await newLedger(fixture), await newLedger(fixture)];
        const [claimed, reaped] = await Promise.all([
          runner.claim({ attempt, token: "runner", holder: fixture.foreignHolder }),
          reaper.reap(attempt),
        ]);
        const outcome = `${claimed.kind} ${reaped.kind}`;
        assert.ok(["claimed held", "gone returned"].includes(outcome), outcome);
      }
    },
  },
];
