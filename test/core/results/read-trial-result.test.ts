import * as fc from "fast-check";
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { TrialResult } from "../../../core/model/trial-result.ts";
import { readTrialResult } from "../../../core/results/read-trial-result.ts";
import {
  renderTrialResult,
  trackNoUsage,
  type TrialResultExtras,
} from "../../../core/results/render-trial-result.ts";
import { arbitraryRecord } from "./arbitrary-record.ts";

const EXTRAS: TrialResultExtras = {
  trajectorySummary: null,
  usageTracking: trackNoUsage("local"),
  sandboxId: null,
  utcOffsetMinutes: 120,
};

const FAULTS = new URL(
  "../../fixtures/benchflow-0.7.12/faults-no-retry/2026-11-30__04-39-55/",
  import.meta.url,
);

function read(value: unknown) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return readTrialResult(text, { rolloutName: "half-life__0123abcd" });
}

function recordOf(value: unknown) {
  const reading = read(value);
  if (reading.kind === "malformed") throw new Error(reading.reason);
  return reading.record;
}

function reasonOf(value: unknown): string {
  const reading = read(value);
  return reading.kind === "malformed" ? reading.reason : "ok";
}

test("a record that was rendered reads back equal", () => {
  fc.assert(
    fc.property(arbitraryRecord, (record) => {
      const context = { rolloutName: record.rolloutName };
      const reading = readTrialResult(renderTrialResult(record, EXTRAS), context);
      expect(reading).toEqual({ kind: "ok", record });
    }),
  );
});

test("what is rendered is a trial result by our own schema", () => {
  fc.assert(
    fc.property(arbitraryRecord, (record) => {
      const parsed = TrialResult.safeParse(JSON.parse(renderTrialResult(record, EXTRAS)));
      expect(parsed.error).toBeUndefined();
    }),
  );
});

test("the contract's keys come first, in BenchFlow's own order", () => {
  const theirs = readFileSync(new URL("json-two-metrics__bdf3e914/result.json", FAULTS), "utf8");
  const record = recordOf(theirs);
  const keys = Object.keys(JSON.parse(renderTrialResult(record, EXTRAS)) as object);
  const expected = Object.keys(JSON.parse(theirs) as object);
  expect(keys.slice(0, expected.length)).toEqual(expected);
});

test("a BenchFlow result that is rendered again says the same under the contract's keys", () => {
  for (const folder of readdirSync(FAULTS).filter((name) => name.includes("__"))) {
    const theirs: unknown = JSON.parse(
      readFileSync(new URL(`${folder}/result.json`, FAULTS), "utf8"),
    );
    const extras: TrialResultExtras = {
      ...EXTRAS,
      trajectorySummary: (theirs as { trajectory_summary: never }).trajectory_summary,
      usageTracking: trackNoUsage("docker"),
      diagnostics: {
        verifier_timeout_info: (theirs as { verifier_timeout_info: never }).verifier_timeout_info,
      },
    };
    const reading = readTrialResult(JSON.stringify(theirs), { rolloutName: folder });
    if (reading.kind === "malformed") throw new Error(reading.reason);
    expect(JSON.parse(renderTrialResult(reading.record, extras))).toMatchObject(theirs as object);
  }
});

test("BenchFlow's twelve kinds of verifier read as 1 passed, 4 failed, 7 without a verdict", () => {
  const outcomes = readdirSync(FAULTS)
    .filter((name) => name.includes("__"))
    .map((folder) => {
      const text = readFileSync(new URL(`${folder}/result.json`, FAULTS), "utf8");
      const { taskName, outcome } = recordOf(text);
      return `${taskName} ${outcome.kind === "scored" ? outcome.reward : outcome.category}`;
    });
  expect(outcomes).toEqual([
    "ctrf-one-failed 0",
    "exit-1-with-reward 1",
    "fails-no-reward verifier_failure",
    "json-bad-key verifier_failure",
    "json-two-metrics 0.5",
    "reward-empty verifier_failure",
    "reward-not-a-number verifier_failure",
    "reward-out-of-range verifier_failure",
    "reward-partial 0.3",
    "reward-zero 0",
    "verifier-sleeps verifier_timeout",
    "zero-exit-no-reward verifier_failure",
  ]);
});

test("a reward beside an agent error is scored, and the limit is named", () => {
  const { outcome } = recordOf({
    task_name: "t",
    rewards: { reward: 0 },
    error: "Agent prompt exceeded wall-clock budget 900s",
    error_category: "timeout",
  });
  expect(outcome).toEqual({ kind: "scored", reward: 0, passed: false, limit: "wall-clock" });
});

test("an agent error wins over a verifier error when there is no reward", () => {
  const { outcome } = recordOf({
    task_name: "t",
    rewards: null,
    error: "boom",
    error_category: "acp_error",
    verifier_error: "verifier crashed: x",
    verifier_error_category: "verifier_failure",
  });
  expect(outcome).toMatchObject({ category: "acp_error", fault: "agent" });
});

test("no reward and no error is no verdict, never 0", () => {
  expect(recordOf({ task_name: "t", rewards: null }).outcome).toMatchObject({
    kind: "unscored",
    category: "no_verdict",
  });
});

test.each([
  ["a list", [1], "rewards is a list: expected record, received array"],
  ["true", true, "rewards is true: expected record, received boolean"],
  ["text", "1", 'rewards is "1": expected record, received string'],
  ["a number", 1, "rewards is 1: expected record, received number"],
])("rewards that are %s make the file malformed, with the reason", (_, rewards, reason) => {
  expect(reasonOf({ task_name: "t", rewards })).toBe(reason);
});

test.each([
  ['{"reward": NaN}', "rewards.reward is NaN, not a finite number"],
  ['{"reward": Infinity}', "rewards.reward is Infinity, not a finite number"],
  ['{"reward": -Infinity}', "rewards.reward is -Infinity, not a finite number"],
  ['{"reward": 1e400}', "rewards.reward is Infinity, not a finite number"],
  ['{"reward": "1"}', 'rewards.reward is "1", not a finite number'],
  ['{"reward": true}', "rewards.reward is true, not a finite number"],
  ['{"reward": [1]}', "rewards.reward is a list, not a finite number"],
  ['{"score": 1}', "rewards.reward is missing, not a finite number"],
])("a reward map %s is unscored and the task's fault", (rewards, detail) => {
  const { outcome, rewards: kept } = recordOf(`{"task_name": "t", "rewards": ${rewards}}`);
  expect(outcome).toMatchObject({ kind: "unscored", fault: "task", detail });
  expect(kept).toBeNull();
});

test("words like NaN inside of strings stay as they are", () => {
  const { taskName } = recordOf('{"task_name": "NaN \\"-Infinity", "rewards": {"reward": NaN}}');
  expect(taskName).toBe('NaN "-Infinity');
});

test("every prefix of a result file is malformed, never a result", () => {
  const text = readFileSync(new URL("reward-partial__5d2f1bd8/result.json", FAULTS), "utf8").trim();
  for (let length = 0; length < text.length; length += 1) {
    expect(read(text.slice(0, length)).kind).toBe("malformed");
  }
});

test.each([
  ["[]", "not a trial result: expected object, received array"],
  ["{}", "task_name is missing: expected string, received undefined"],
  [
    '{"task_name": "", "rewards": null}',
    'task_name is "": too small: expected string to have >=1 characters',
  ],
])("%s is no trial result", (text, reason) => {
  expect(reasonOf(text)).toBe(reason);
});

test("text nested a million levels deep is malformed, not a crash", () => {
  const deep = "[".repeat(1_000_000) + "]".repeat(1_000_000);
  expect(read(`{"task_name": "t", "rewards": {"reward": 1, "x": ${deep}}}`).kind).toBe("malformed");
  expect(read(`{"task_name": ${deep}}`).kind).toBe("malformed");
});

const OURS = {
  task_name: "t",
  rewards: { reward: 1 },
  outcome: { kind: "scored", reward: 1, passed: true, limit: null },
};

test.each([
  [{ ...OURS, rewards: { reward: 0 } }, "outcome.reward is 1 and rewards.reward is 0"],
  [{ ...OURS, rewards: null }, "outcome is scored and rewards holds no valid reward"],
  [
    { ...OURS, rewards: { reward: 0.5 }, outcome: { ...OURS.outcome, reward: 0.5 } },
    "outcome.passed is true for a reward of 0.5",
  ],
])("an outcome that contradicts the rewards is malformed (%#)", (file, reason) => {
  expect(reasonOf(file)).toBe(reason);
});

test("tokens that BenchFlow could not count are unknown, but 0 for a control", () => {
  const usage = { total_tokens: 0, n_input_tokens: 0, usage_source: "unavailable" };
  const file = { task_name: "t", rewards: null, agent_result: usage };
  expect(recordOf({ ...file, agent: "claude-agent-acp" }).usage.totalTokens).toBeNull();
  expect(recordOf({ ...file, agent: "oracle" }).usage.totalTokens).toBe(0);
});

test("a file by BenchFlow takes its failing test from the report beside it", () => {
  const ctrf = readFileSync(
    new URL("ctrf-one-failed__7f3bf3c4/verifier/ctrf.json", FAULTS),
    "utf8",
  );
  const reading = readTrialResult('{"task_name": "t", "rewards": {"reward": 0}}', {
    rolloutName: "t__1",
    evidence: { ctrf },
  });
  expect(reading).toMatchObject({ record: { firstFailedTest: "test_b failed: assert 1 == 2" } });
});
