import { expect, test } from "vitest";
import type { TrialRecord } from "../../../core/model/record.ts";
import { aRecord } from "./a-record.ts";
import { planOf, summarize } from "./a-summary.ts";

function at(from: string, to: string): Pick<TrialRecord, "startedAt" | "finishedAt"> {
  return { startedAt: `2026-11-04T${from}Z`, finishedAt: `2026-11-04T${to}Z` };
}

test("spending is the sum over every attempt, the score over the one that counts", () => {
  const usage = { ...aRecord().usage, costUsd: 0.25 };
  const summary = summarize([
    aRecord({ attempt: 1, unscored: "infra_failure", usage }),
    aRecord({ attempt: 2, unscored: "infra_failure", usage }),
    aRecord({ attempt: 3, reward: 1, usage }),
  ]);
  expect(summary).toMatchObject({ total: 1, passed: 1, total_tokens: 3000, total_cost_usd: 0.75 });
  expect(summary.avg_cost_per_trial_usd).toBe(0.75);
  expect(summary.spend).toMatchObject({ attempts: 3, retried_trials: 1, unpriced_attempts: 0 });
});

test("money that nobody knows is null and counted as unknown, never 0", () => {
  const unknown = { ...aRecord().usage, totalTokens: null, inputTokens: null };
  const priced = { ...aRecord().usage, costUsd: 0.5 };
  const none = summarize([aRecord({ usage: unknown })]);
  expect(none).toMatchObject({
    total_tokens: null,
    total_input_tokens: null,
    total_cost_usd: null,
  });
  expect(none.spend).toMatchObject({ uncounted_attempts: 1, unpriced_attempts: 1 });
  const some = summarize([
    aRecord({ taskName: "a", usage: unknown }),
    aRecord({ taskName: "b", usage: priced }),
  ]);
  expect(some).toMatchObject({ total_tokens: 1000, total_cost_usd: 0.5 });
  expect(some.avg_cost_per_trial_usd).toBeNull();
});

test("token sums beyond 31 bits stay exact (C-44)", () => {
  const usage = { ...aRecord().usage, totalTokens: 3_000_000_000 };
  const names = ["a", "b", "c"];
  const summary = summarize(names.map((taskName) => aRecord({ taskName, usage })));
  expect(summary.total_tokens).toBe(9_000_000_000);
});

test("the first score of a trial counts, and a second one is told as an anomaly", () => {
  const summary = summarize([
    aRecord({ attempt: 2, reward: 1 }),
    aRecord({ attempt: 1, reward: 0 }),
  ]);
  expect(summary).toMatchObject({ total: 1, passed: 0, failed: 1 });
  expect(summary.duplicate_scores).toEqual([
    { task_name: "half-life", rollout_name: "half-life__00000002" },
  ]);
});

test("of BenchFlow's unnumbered attempts a scored one beats none, then the newest counts", () => {
  const early = { attempt: null, startedAt: "2026-11-04 10:00:00.000000" };
  const late = { attempt: null, startedAt: "2026-11-04 11:00:00.000000" };
  const names = { rolloutName: "half-life__ffffffff" };
  expect(
    summarize([aRecord({ ...early, ...names, reward: 0 }), aRecord({ ...late, reward: 1 })]).passed,
  ).toBe(1);
  expect(
    summarize([
      aRecord({ ...early, reward: 1 }),
      aRecord({ ...late, ...names, unscored: "infra_failure" }),
    ]).passed,
  ).toBe(1);
});

test("a score of another version of the task is spent money, not a score", () => {
  const old = aRecord({ attempt: 1, taskDigest: "sha256:old", reward: 1 });
  const now = aRecord({ attempt: 2, taskDigest: "sha256:new", reward: 0 });
  expect(summarize([old, now])).toMatchObject({ passed: 0, failed: 1, total_tokens: 2000 });
  const planned = {
    settingsDigest: "sha256:bb",
    tasks: [{ name: "half-life", digest: "sha256:newest", contextDigest: null }],
  };
  const summary = summarize([old, now], { planned });
  expect(summary).toMatchObject({ total: 0, total_tokens: 2000 });
  expect(summary.coverage).toMatchObject({ planned: 1, never_started: 1 });
  expect(summary.spend.superseded_attempts).toBe(2);
});

test("a score on another build context is superseded, and one on an unknown context counts", () => {
  const planned = {
    settingsDigest: "sha256:bb",
    tasks: [{ name: "half-life", digest: "sha256:aa", contextDigest: "sha256:now" }],
  };
  const count = (contextDigest: string | null) =>
    summarize([aRecord({ contextDigest })], { planned });
  expect(count("sha256:before").total).toBe(0);
  expect(count("sha256:before").spend.superseded_attempts).toBe(1);
  expect(count("sha256:now").total).toBe(1);
  expect(count(null).total).toBe(1);
});

test("without a plan the context of a task's last attempt is the one that counts", () => {
  const before = aRecord({ attempt: 1, contextDigest: "sha256:before", reward: 1 });
  const now = aRecord({ attempt: 2, contextDigest: "sha256:now", reward: 0 });
  expect(summarize([before, now])).toMatchObject({ passed: 0, failed: 1 });
});

test("attempts with other settings than the plan's do not count", () => {
  const planned = { ...planOf("half-life"), settingsDigest: "sha256:other" };
  expect(summarize([aRecord()], { planned }).total).toBe(0);
});

test("a pause between a run and its resume is not elapsed time", () => {
  const summary = summarize([
    aRecord({ taskName: "a", ...at("10:00:00", "10:01:00") }),
    aRecord({ taskName: "b", ...at("10:00:30", "10:01:30.500") }),
    aRecord({ taskName: "c", ...at("18:00:00", "18:00:10") }),
    aRecord({ taskName: "d", startedAt: "", finishedAt: "" }),
  ]);
  expect(summary.elapsed_sec).toBe(100.5);
});
