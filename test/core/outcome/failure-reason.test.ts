import { expect, test } from "vitest";
import type { Rewards } from "../../../core/model/outcome.ts";
import { failureReason } from "../../../core/outcome/failure-reason.ts";

function reason(rewards: Rewards | null, firstFailedTest: string | null = null): string {
  return failureReason({
    outcome: { kind: "scored", reward: rewards?.reward ?? 0, passed: false, limit: null },
    rewards,
    verifierError: null,
    firstFailedTest,
  });
}

// The texts of BenchFlow's own runs: spec-0.7.12.md section 2, and the mission page.
test.each([
  [{ reward: 0 }, null, "reward 0.0"],
  [{ reward: 0.3 }, null, "reward 0.3"],
  [{ reward: 0.5, accuracy: 0.75, style: 0.25 }, null, "reward 0.5 — accuracy 0.75, style 0.25"],
  [{ reward: 0 }, "test_b failed: assert 1 == 2", "reward 0.0 — test_b failed: assert 1 == 2"],
])("%j with the failing test %s reads %s", (rewards, failed, text) => {
  expect(reason(rewards, failed)).toBe(text);
});

test("of many metrics the three lowest are named, and metrics come before failing tests", () => {
  expect(reason({ reward: 0, a: 0.9, b: 0.1, c: 0.2, metrics: { d: 0.3, e: 0 } }, "t failed")).toBe(
    "reward 0.0 — b 0.1, c 0.2, e 0.0",
  );
});

test("found and total make one fraction, ordered by its value", () => {
  expect(
    reason({ reward: 0, metrics: { bugs_found: 1, bugs_total: 4, a: 0.1, b: 0.2, c: 1 } }),
  ).toBe("reward 0.0 — bugs 1/4, a 0.1, b 0.2");
  expect(reason({ reward: 0, bugs_found: 1 })).toBe("reward 0.0 — bugs_found 1.0");
});

test("evidence keys are no metrics", () => {
  expect(reason({ reward: 0, details: { n: 1 }, reason: "x", rubric: [{ score: 1 }] })).toBe(
    "reward 0.0",
  );
});

test("a verifier's error comes before everything, and an unscored trial gives its detail", () => {
  expect(
    failureReason({
      outcome: { kind: "scored", reward: 0, passed: false, limit: null },
      rewards: { reward: 0 },
      verifierError: { category: "verifier_timeout", message: "verifier timed out after 5.0s" },
      firstFailedTest: null,
    }),
  ).toBe("verifier timed out after 5.0s");
  expect(
    failureReason({
      outcome: {
        kind: "unscored",
        fault: "infrastructure",
        category: "infra_failure",
        detail: "the sandbox was lost",
        phase: "agent",
        verifyOnly: false,
        afterAgent: false,
      },
      rewards: null,
      verifierError: null,
      firstFailedTest: null,
    }),
  ).toBe("the sandbox was lost");
});
