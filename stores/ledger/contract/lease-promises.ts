import assert from "node:assert/strict";
import { amountOf } from "../../../core/ledger/amounts.ts";
import { NO_CAPS } from "../../../core/ledger/caps.ts";
import { stopOf } from "../../../core/ledger/sum-pot.ts";
import {
  LIMITS,
  aTrial,
  accountOf,
  admitted,
  assertMoney,
  drawOf,
  newLedger,
  openLedger,
  step,
  usd,
} from "./assert-ledger.ts";
import type { CloseRequest, OpenLease } from "../../../core/model/ledger-request.ts";
import type { Ledger } from "../../../core/ports/ledger.ts";
import { systemClock } from "../../../host/system-clock.ts";
import type { LedgerFixture, LedgerPromise } from "./ledger-promise.ts";

/** What a pot promises to racing trials, and to steps that are sent twice. */
export const leasePromises: readonly LedgerPromise[] = [
  {
    promise: "of 200 trials that race from 4 processes for a pot of 100 trials, 100 are admitted",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { microUsd: 1000 }, width: 200 });
      const racers = await fourLedgers(fixture);
      const trialCaps = { ...NO_CAPS, microUsd: 10 };
      const admissions = await Promise.all(
        Array.from({ length: 200 }, async (_, at) =>
          ledgerOf(racers, at).admit(aTrial(`trial ${String(at)}`, { order: at, trialCaps })),
        ),
      );
      assert.equal(admissions.filter(({ kind }) => kind === "admitted").length, 100);
      await assertMoney(ledger, { remaining: 0, held: 1000, settled: 0 });
    },
  },
  {
    promise: "of 200 calls that race from 4 processes for a pot of 60, 60 are leased",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { microUsd: 600 }, width: 200 });
      const racers = await fourLedgers(fixture);
      const opens = await Promise.all(
        Array.from({ length: 200 }, async (_, at) =>
          admitted(ledgerOf(racers, at), aTrial(`trial ${String(at)}`, { order: at })),
        ),
      );
      const draws = await Promise.all(
        opens.map(async (open, at) => ledgerOf(racers, at).draw(drawOf(open, 1, { microUsd: 10 }))),
      );
      assert.equal(draws.filter(({ kind }) => kind === "granted").length, 60);
      assert.equal(draws.filter(({ kind }) => kind === "short").length, 140);
      await assertMoney(ledger, { remaining: 0, held: 600, settled: 0 });
    },
  },
  {
    promise:
      "an admission that is repeated finds itself, and another one of the attempt is turned away",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { microUsd: 100 } });
      const trial = aTrial("one", { least: amountOf({ microUsd: 30, rollouts: 1 }) });
      const open = await admitted(ledger, trial);
      const again = await admitted(await newLedger(fixture), trial);
      assert.deepEqual([again.shard, again.lease], [open.shard, open.lease]);
      const other = await ledger.admit({ ...trial, by: "somebody else" });
      assert.deepEqual(other, { kind: "taken" });
      await assertMoney(ledger, { remaining: 70, held: 30, settled: 0 });
      await accountOf(ledger, open).close({ complete: true, unpriced: false });
      assert.deepEqual(await ledger.admit(trial), { kind: "gone" });
      await assertMoney(ledger, { remaining: 100, held: 0, settled: 0 });
    },
  },
  {
    promise: "of two runners of one attempt, one has it and the other may not spend",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { microUsd: 100 } });
      const open = await admitted(ledger, aTrial("one", { claim: null }));
      const { attempt, shard } = open;
      const runners = await fourLedgers(fixture);
      const replies = await Promise.all(
        runners.map(async (runner, at) => ({
          at,
          reply: await runner.claim({ attempt, token: `runner ${String(at)}`, holder: "nobody" }),
        })),
      );
      const won = replies.filter(({ reply }) => reply.kind === "claimed");
      const lost = replies.filter(({ reply }) => reply.kind === "taken");
      assert.deepEqual([won.length, lost.length], [1, 3]);
      // The losers first, with the number that is due.
      for (const { at, reply } of [...lost, ...won]) {
        const lease = { attempt, shard, token: `runner ${String(at)}`, seq: 1 };
        const draw = { ...drawOf(open, 1, { microUsd: 10 }), ...lease };
        const isOurs = reply.kind === "claimed";
        assert.equal((await ledger.draw(draw)).kind, isOurs ? "granted" : "taken");
        assert.equal((await ledger.check(lease)).kind, isOurs ? "go-on" : "taken");
      }
      await assertMoney(ledger, { remaining: 90, held: 10, settled: 0 });
    },
  },
  {
    promise: "a top-up that is sent again, at once or later, changes nothing twice",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { microUsd: 100 } });
      const open = await admitted(ledger, aTrial("one"));
      const first = drawOf(open, 1, { microUsd: 20 });
      const second = drawOf(open, 2, { microUsd: 30, settle: 15 });
      for (const request of [first, first, second, second, first, second])
        assert.equal((await ledger.draw(request)).kind, "granted");
      const others = await fourLedgers(fixture);
      await Promise.all(others.map(async (other) => await other.draw(second)));
      await assertMoney(ledger, { remaining: 50, held: 35, settled: 15 });
    },
  },
  {
    promise: "a step out of turn is an error, and changes nothing",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { microUsd: 100 } });
      const open = await admitted(ledger, aTrial("one"));
      await assert.rejects(ledger.draw(drawOf(open, 3, { microUsd: 20 })), /out of step/u);
      await ledger.draw(drawOf(open, 1, { microUsd: 20 }));
      // The number was used, and not for leaving a queue.
      await assert.rejects(ledger.leave(step(open, 1)), /out of step/u);
      await assert.rejects(ledger.close(closeOf(open, 1)), /out of step/u);
      await assertMoney(ledger, { remaining: 80, held: 20, settled: 0 });
    },
  },
  {
    promise: "an attempt is settled once, however often its end is reported",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { microUsd: 100 } });
      const open = await admitted(ledger, aTrial("one"));
      await ledger.draw(drawOf(open, 1, { microUsd: 40 }));
      const close = {
        ...closeOf(open, 2),
        settle: usd(25),
        leased: amountOf({ microUsd: 40, rollouts: 1 }),
        peak: usd(40),
      };
      const others = await fourLedgers(fixture);
      const replies = await Promise.all(others.map(async (other) => await other.close(close)));
      for (const { kind } of [...replies, await ledger.close(close)]) assert.equal(kind, "granted");
      assert.deepEqual(await ledger.draw(drawOf(open, 2, { microUsd: 40 })), { kind: "gone" });
      await assertMoney(ledger, { remaining: 75, held: 0, settled: 25 });
    },
  },
  {
    promise: "a call is refused once neither what remains nor what others hold can cover it",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { microUsd: 100 }, width: 64 });
      const one = await admitted(ledger, aTrial("one"));
      const two = await admitted(ledger, aTrial("two", { order: 1 }));
      await ledger.draw(drawOf(one, 1, { microUsd: 60 }));
      assert.deepEqual(await ledger.draw(drawOf(two, 1, { microUsd: 50 })), { kind: "short" });
      await ledger.draw({ ...drawOf(one, 2, { microUsd: 0, settle: 60 }), contested: false });
      const refused = await ledger.draw(drawOf(two, 1, { microUsd: 50 }));
      assert.deepEqual(refused, { kind: "refused", unit: "microUsd" });
    },
  },
  {
    promise: "those that wait are served in plan order, and nothing new starts before them",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { microUsd: 100 }, width: 64 });
      const opens = await Promise.all(
        [0, 1, 2].map(async (order) =>
          admitted(ledger, aTrial(`trial ${String(order)}`, { order })),
        ),
      );
      const [rich, first, second] = opens.map((open) => accountOf(ledger, open));
      assert.ok(rich !== undefined && first !== undefined && second !== undefined);
      const call = await rich.reserve(usd(90), LIMITS);
      assert.ok(call.kind === "granted");
      const served: string[] = [];
      const serve = async (name: string, account: typeof rich, worst: number): Promise<void> => {
        const reply = await account.reserve(usd(worst), LIMITS);
        served.push(`${name} ${reply.kind}`);
        if (reply.kind === "granted") await account.settle(reply.call, usd(worst));
      };
      // The later one asks first, and for little enough; it still comes second.
      const late = serve("second", second, 20);
      await untilWaiting(ledger, 1);
      const early = serve("first", first, 60);
      await untilWaiting(ledger, 2);
      assert.deepEqual(await ledger.admit(aTrial("new", { least: usd(1) })), {
        kind: "wait",
        why: "short",
      });
      await rich.settle(call.call, usd(10));
      await rich.giveBack();
      await Promise.all([early, late]);
      assert.deepEqual(served, ["first granted", "second granted"]);
      const settled = [rich, first, second].map(async (account) =>
        account.close({ complete: true, unpriced: false }),
      );
      await Promise.all(settled);
      await assertMoney(ledger, { remaining: 10, held: 0, settled: 90 });
    },
  },
  {
    promise: "a figure above its reservation is charged, stops the run and is shown",
    check: async (fixture) => {
      const ledger = await openLedger(fixture, { caps: { microUsd: 100 }, width: 64 });
      const account = accountOf(ledger, await admitted(ledger, aTrial("one")));
      const other = accountOf(ledger, await admitted(ledger, aTrial("two", { order: 1 })));
      const call = await account.reserve(usd(10), LIMITS);
      assert.ok(call.kind === "granted");
      await account.settle(call.call, usd(17));
      await account.settle(call.call, usd(17));
      const view = await ledger.view();
      assert.equal(stopOf(view)?.kind, "anomaly");
      const anomalies = Object.values(view.head.anomalies).map(({ actual, reserved }) => [
        reserved.microUsd,
        actual.microUsd,
      ]);
      assert.deepEqual(anomalies, [[10, 17]]);
      for (const each of [account, other])
        assert.equal((await each.reserve(usd(1), LIMITS)).kind, "refused");
      await account.close({ complete: true, unpriced: false });
      await assertMoney(ledger, { remaining: 83, held: 0, settled: 17 });
    },
  },
];

/** The end of a trial that spent nothing. */
function closeOf(open: OpenLease, seq: number): CloseRequest {
  const { earmarked, leased, settled, setting } = open.lease;
  const lease = { earmarked, leased, settled, setting };
  const unknown = { usd: false, tokens: false };
  const ending = { waits: false, complete: true, unknown };
  return { ...step(open, seq), ...lease, ...ending, settle: usd(0), peak: usd(0) };
}

async function fourLedgers(fixture: LedgerFixture): Promise<readonly Ledger[]> {
  return await Promise.all([1, 2, 3, 4].map(async () => await newLedger(fixture)));
}

function ledgerOf(ledgers: readonly Ledger[], at: number): Ledger {
  const ledger = ledgers[at % ledgers.length];
  assert.ok(ledger !== undefined);
  return ledger;
}

async function untilWaiting(ledger: Ledger, count: number): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    const { shards } = await ledger.view();
    if (shards.reduce((sum, { waiting }) => sum + waiting, 0) >= count) return;
    await systemClock.sleep(20);
  }
  assert.fail(`${String(count)} trials never waited`);
}
