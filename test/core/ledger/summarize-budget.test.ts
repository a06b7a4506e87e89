import { describe, expect, test } from "vitest";
import { amountOf } from "../../../core/ledger/amounts.ts";
import { budgetLines, summarizeBudget } from "../../../core/ledger/summarize-budget.ts";
import type { BudgetQuestion } from "../../../core/ledger/summarize-budget.ts";
import type { Amount, Caps } from "../../../core/model/ledger-amount.ts";
import { BudgetSummary } from "../../../core/model/ledger-budget.ts";
import { aLease, aShard, aView } from "./ledger-builders.ts";

function asked(
  settled: Partial<Amount>,
  caps: Partial<Caps>,
  over: Partial<BudgetQuestion> = {},
): BudgetQuestion {
  const view = aView([aShard({ settled: amountOf(settled) }), aShard()], caps);
  return { view, refusedUnit: null, cancelled: [], notStarted: [], ...over };
}

describe("summary.json's budget", () => {
  test("has the contract's keys in their order, then ours", () => {
    const summary = summarizeBudget(asked({ tokens: 5 }, {}));
    expect(Object.keys(summary)).toEqual([
      "caps",
      "spent",
      "stopped",
      "reason",
      "cancelled",
      "not_started",
      "held",
      "anomalies",
    ]);
    expect(Object.keys(summary.caps)).toEqual([
      "max_cost_usd",
      "max_sandbox_seconds",
      "max_tokens",
      "max_rollouts",
    ]);
    expect(Object.keys(summary.spent)).toEqual([
      "cost_usd",
      "sandbox_seconds",
      "tokens",
      "rollouts",
      "usd_unknown_trials",
      "tokens_unknown_trials",
    ]);
    expect(BudgetSummary.parse(summary)).toEqual(summary);
  });

  test("sums what ended and what runs over all shards, in dollars, seconds, tokens and attempts", () => {
    const lease = aLease({
      settled: amountOf({ microUsd: 5, tokens: 1 }),
      leased: amountOf({ microUsd: 250_000, sandboxMs: 500 }),
      earmarked: amountOf({ microUsd: 1_000_000 }),
    });
    const ended = amountOf({ microUsd: 1_500_000, tokens: 200, sandboxMs: 61_500, rollouts: 3 });
    const one = aShard({ settled: ended, unknown: { usd: 1, tokens: 2 }, leases: { lease } });
    const two = aShard({ settled: amountOf({ tokens: 7 }), unknown: { usd: 1, tokens: 0 } });
    const view = aView([one, two], { microUsd: 2_000_000, sandboxMs: 90_000, rollouts: 9 });
    const question = { view, refusedUnit: null, cancelled: [], notStarted: [] };
    expect(summarizeBudget(question)).toEqual({
      caps: { max_cost_usd: 2, max_sandbox_seconds: 90, max_tokens: null, max_rollouts: 9 },
      spent: {
        cost_usd: 1.500_005,
        sandbox_seconds: 61.5,
        tokens: 208,
        rollouts: 3,
        usd_unknown_trials: 2,
        tokens_unknown_trials: 2,
      },
      stopped: false,
      reason: null,
      cancelled: [],
      not_started: [],
      held: { cost_usd: 1.25, sandbox_seconds: 0.5, tokens: 0, rollouts: 0 },
      anomalies: [],
    });
  });

  test.each([
    ["tokens", { tokens: 200 }, { tokens: 150 }, "200 tokens spent of a 150 cap"],
    ["microUsd", { microUsd: 19_999_999 }, { microUsd: 20e6 }, "$19.99 spent of a $20.00 cap"],
    ["microUsd", { microUsd: 0 }, { microUsd: 0 }, "$0.00 spent of a $0.00 cap"],
    ["microUsd", { microUsd: 4_100 }, { microUsd: 5_000 }, "$0.0041 spent of a $0.005 cap"],
    ["microUsd", { microUsd: 123_456 }, { microUsd: 500_000 }, "$0.123456 spent of a $0.50 cap"],
    [
      "sandboxMs",
      { sandboxMs: 119_500 },
      { sandboxMs: 120_000 },
      "119.5 sandbox seconds spent of a 120 cap",
    ],
    ["rollouts", { rollouts: 5 }, { rollouts: 5 }, "5 rollouts spent of a 5 cap"],
  ] as const)("says how a cap on %s was reached: %o of %o", (unit, spent, caps, text) => {
    const question = asked(spent, caps, { refusedUnit: unit, notStarted: ["a"] });
    expect(summarizeBudget(question).reason).toBe(`budget reached: ${text}`);
  });

  test("names the cap that is nearest its end where no refusal named one", () => {
    const question = asked({ microUsd: 5, tokens: 90 }, { microUsd: 10, tokens: 100 });
    const { reason, stopped } = summarizeBudget({ ...question, cancelled: ["a"] });
    expect(reason).toBe("budget reached: 90 tokens spent of a 100 cap");
    expect(stopped).toBe(true);
  });

  test("says of an anomaly what it was, although no trial was cut", () => {
    const stop = { kind: "anomaly", reason: "a call of x took 9 microUsd" } as const;
    const view = aView([aShard({ stop })], {});
    const question = { view, refusedUnit: null, cancelled: [], notStarted: [] };
    expect(summarizeBudget(question)).toMatchObject({
      stopped: true,
      reason: "usage above its reservation: a call of x took 9 microUsd",
    });
  });
});

describe("the Budget line", () => {
  test("is the contract's where the budget stopped trials", () => {
    const question = asked({ tokens: 200 }, { tokens: 150 }, { refusedUnit: "tokens" });
    const stopped = summarizeBudget({ ...question, cancelled: ["a", "b"], notStarted: ["c"] });
    expect(budgetLines(stopped)).toEqual([
      "Budget: budget reached: 200 tokens spent of a 150 cap; 2 running trial(s) cancelled, 1 not started (not counted as failures; resume the job to run them)",
    ]);
  });

  test("says what is spent under every cap that was kept, and there is none without a cap", () => {
    const spent = { microUsd: 92_500, tokens: 200, sandboxMs: 1_500 };
    expect(budgetLines(summarizeBudget(asked(spent, { microUsd: 20_000_000 })))).toEqual([
      "Budget: $0.0925 spent of a $20.00 cap",
    ]);
    const both = asked(spent, { tokens: 500, sandboxMs: 60_000 });
    expect(budgetLines(summarizeBudget(both))).toEqual([
      "Budget: 200 tokens spent of a 500 cap, 1.5 sandbox seconds spent of a 60 cap",
    ]);
    expect(budgetLines(summarizeBudget(asked(spent, {})))).toEqual([]);
  });

  test("names attempts that are charged all that they might have spent", () => {
    const unknown = { usd: 1, tokens: 1 };
    const view = aView([aShard({ unknown })], { microUsd: 1_000_000 });
    const question = { view, refusedUnit: null, cancelled: [], notStarted: [] };
    expect(budgetLines(summarizeBudget(question))).toEqual([
      "Budget: $0.00 spent of a $1.00 cap",
      "  1 attempt(s), killed or cut off, are charged all that they might have spent",
    ]);
  });

  test("says what one more trial may need where that is more than what is left", () => {
    const remaining = amountOf({ microUsd: 15_900 });
    const view = aView([aShard({ settled: amountOf({ microUsd: 4_100 }), remaining })], {
      microUsd: 20_000,
    });
    const refusal = { refusedUnit: "microUsd", refusedNeed: 34_600 } as const;
    const summary = summarizeBudget({ view, ...refusal, cancelled: [], notStarted: ["a"] });
    expect(summary.next_trial).toEqual({ unit: "microUsd", need: 34_600, left: 15_900 });
    expect(budgetLines(summary)[1]).toBe(
      "  left: $0.0159; one more trial may need $0.0346: raise --max-cost-usd",
    );
  });

  test("does not call a figure above its reservation a budget", () => {
    const stop = { kind: "anomaly", reason: "a call of x took 9 microUsd" } as const;
    const view = aView([aShard({ stop })], { microUsd: 20_000 });
    const question = { view, refusedUnit: null, cancelled: [], notStarted: ["a"] };
    expect(budgetLines(summarizeBudget(question))[0]).toMatch(
      /^Stopped: usage above its reservation: a call of x took 9 microUsd; 0 running/u,
    );
    const amount = amountOf({ microUsd: 9 });
    const anomaly = { attempt: "x__00000001", reserved: amount, actual: amount, detail: "a call" };
    const head = { ...view.head, anomalies: { "x__00000001#1": anomaly } };
    expect(budgetLines(summarizeBudget({ ...question, view: { ...view, head } }))[1]).toBe(
      "  see trajectory/requests.jsonl of x__00000001; its real figure is charged",
    );
  });
});
