import { expect, test } from "vitest";
import type { Reservation, TrialAccount } from "../../../core/ledger/trial-account.ts";
import { NO_TOKENS } from "../../../core/model/usage-buckets.ts";
import type { SpendClaim } from "../../../core/ports/spend-gate.ts";
import { accountGate } from "../../../runner/proxy/account-gate.ts";

const { signal } = new AbortController();
const CLAIM: SpendClaim = {
  tokens: { input: 100, output: 50 },
  costMicroUsd: 700,
  unbounded: [],
  purpose: "main",
};

class FakeAccount implements Pick<TrialAccount, "reserve" | "settle"> {
  readonly asked: unknown[] = [];
  readonly told: unknown[] = [];
  answer: Reservation = { kind: "granted", call: "7", heldMs: 0 };

  async reserve(...asked: Parameters<TrialAccount["reserve"]>): Promise<Reservation> {
    this.asked.push(asked);
    return this.answer;
  }

  async settle(...told: Parameters<TrialAccount["settle"]>): Promise<void> {
    this.told.push(told);
  }
}

function gateOf(
  account: FakeAccount,
  capped = { microUsd: true, tokens: false },
): ReturnType<typeof accountGate> {
  return accountGate(account, { capped, patienceMs: 5000 });
}

/** What the gate says to a claim under these caps. */
async function answerTo(claim: SpendClaim, microUsd: boolean, tokens: boolean): Promise<string> {
  const decision = await gateOf(new FakeAccount(), { microUsd, tokens }).reserve(claim, signal);
  return decision.kind === "refused" ? decision.reason : decision.kind;
}

test("a call's worst case is asked for in dollars and tokens, and its lease is the account's call", async () => {
  const account = new FakeAccount();
  expect(await gateOf(account).reserve(CLAIM, signal)).toEqual({
    kind: "lease",
    lease: { id: "7" },
  });
  const worst = { microUsd: 700, tokens: 150, sandboxMs: 0, rollouts: 0 };
  expect(account.asked).toEqual([[worst, { signal, patienceMs: 5000 }]]);
});

test("the pot's refusals, each by its own name, and the trial's own limit are told apart", async () => {
  const account = new FakeAccount();
  const refused = {
    kind: "refused",
    why: "the pot is empty",
    unit: "microUsd",
    heldMs: 3,
  } as const;
  account.answer = { ...refused, by: "budget" };
  expect(await gateOf(account).reserve(CLAIM, signal)).toEqual({
    kind: "refused",
    reason: "budget",
    message: "the pot is empty",
  });
  account.answer = { ...refused, by: "anomaly" };
  expect(await gateOf(account).reserve(CLAIM, signal)).toMatchObject({ reason: "anomaly" });
  account.answer = { kind: "trial-limit", unit: "tokens", heldMs: 0 };
  expect(await gateOf(account).reserve(CLAIM, signal)).toMatchObject({
    kind: "refused",
    reason: "trial-limit",
  });
});

test("what has no bound or no price is refused under a cap, and only there", async () => {
  const unbounded = { ...CLAIM, unbounded: ["tool web_search"] };
  const unpriced = { ...CLAIM, costMicroUsd: null };
  expect(await answerTo(unbounded, true, false)).toBe("unbounded");
  expect(await answerTo(unbounded, false, true)).toBe("unbounded");
  expect(await answerTo(unbounded, false, false)).toBe("lease");
  expect(await answerTo(unpriced, true, false)).toBe("unpriced");
  expect(await answerTo(unpriced, false, true)).toBe("lease");
});

test("C-35: the pot is told of every token, those of the cache included", async () => {
  const account = new FakeAccount();
  const tokens = {
    input: 3,
    output: 997,
    cacheRead: 183_000,
    cacheWrite5m: 900,
    cacheWrite1h: 100,
  };
  await gateOf(account).settle({ id: "1" }, { kind: "used", tokens, costMicroUsd: 1 });
  expect(account.told).toMatchObject([["1", { tokens: 185_000 }]]);
});

test("real figures and zeros are told; a figure that never came is not, and stays charged", async () => {
  const account = new FakeAccount();
  const gate = gateOf(account);
  const tokens = { ...NO_TOKENS, input: 10, output: 5, cacheRead: 3 };
  await gate.settle({ id: "1" }, { kind: "used", tokens, costMicroUsd: 42 });
  await gate.settle({ id: "2" }, { kind: "unused" });
  await gate.settle({ id: "3" }, { kind: "unknown", estimate: tokens });
  expect(account.told).toEqual([
    ["1", { microUsd: 42, tokens: 18, sandboxMs: 0, rollouts: 0 }],
    ["2", { microUsd: 0, tokens: 0, sandboxMs: 0, rollouts: 0 }],
  ]);
});
