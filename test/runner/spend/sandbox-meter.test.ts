import { expect, test } from "vitest";
import type { Reservation, TrialAccount } from "../../../core/ledger/trial-account.ts";
import type { Amount } from "../../../core/model/ledger-amount.ts";
import { BudgetStop } from "../../../runner/spend/budget-stop.ts";
import { SANDBOX_RESERVE_MS, startSandboxMeter } from "../../../runner/spend/sandbox-meter.ts";
import { FakeClock } from "../../fakes/fake-clock.ts";

/** An account that keeps what it was asked, and refuses from a given call on. */
class FakeAccount implements Pick<TrialAccount, "reserve" | "settle"> {
  readonly reserved: number[] = [];
  readonly settled: { readonly call: string; readonly ms: number }[] = [];
  readonly refusesFrom: number;

  constructor(refusesFrom = Infinity) {
    this.refusesFrom = refusesFrom;
  }

  async reserve(worst: Amount): Promise<Reservation> {
    this.reserved.push(worst.sandboxMs);
    const call = String(this.reserved.length);
    if (this.reserved.length >= this.refusesFrom)
      return {
        kind: "refused",
        why: "no seconds left",
        by: "budget",
        unit: "sandboxMs",
        heldMs: 0,
      };
    return { kind: "granted", call, heldMs: 0 };
  }

  async settle(call: string, actual: Amount): Promise<void> {
    this.settled.push({ call, ms: actual.sandboxMs });
  }
}

async function aMeter(account: FakeAccount) {
  const clock = new FakeClock();
  const refusals: BudgetStop[] = [];
  const meter = await startSandboxMeter({
    account,
    clock,
    signal: new AbortController().signal,
    onRefused: (stop) => void refusals.push(stop),
  });
  return { clock, meter, refusals };
}

test("a sandbox is paid for before each slice, and settled to the millisecond", async () => {
  const account = new FakeAccount();
  const { clock, meter } = await aMeter(account);
  for (let second = 0; second < 150; second += 1) await clock.advance(1000);
  await meter.end();
  await meter.end();
  expect(account.reserved).toEqual([SANDBOX_RESERVE_MS, SANDBOX_RESERVE_MS, SANDBOX_RESERVE_MS]);
  expect(account.settled.map(({ call }) => call)).toEqual(["1", "2", "3"]);
  expect(account.settled.reduce((sum, { ms }) => sum + ms, 0)).toBe(150_000);
});

test("a sandbox whose next slice is refused is told so once, while what it has still pays for its end", async () => {
  const account = new FakeAccount(2);
  const { clock, meter, refusals } = await aMeter(account);
  for (let second = 0; second < 90; second += 1) await clock.advance(1000);
  expect(refusals.map(({ message }) => message)).toEqual(["no seconds left"]);
  await meter.end();
  expect(account.settled).toEqual([{ call: "1", ms: 90_000 }]);
});

test("a sandbox that cannot be paid for at all does not start", async () => {
  await expect(aMeter(new FakeAccount(1))).rejects.toThrow(BudgetStop);
});

test("a sandbox that does not end in time is charged no more than was reserved for it", async () => {
  const account = new FakeAccount(2);
  const { clock, meter } = await aMeter(account);
  for (let second = 0; second < 400; second += 1) await clock.advance(1000);
  await meter.end();
  expect(account.settled).toEqual([{ call: "1", ms: SANDBOX_RESERVE_MS }]);
});
