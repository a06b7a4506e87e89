import * as fc from "fast-check";
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { JobSummary } from "../../../core/model/summary.ts";
import { readTrialResult } from "../../../core/results/read-trial-result.ts";
import { renderSummary, summarizeJob } from "../../../core/results/summarize-job.ts";
import type { JobFacts } from "../../../core/results/summarize-job.ts";
import { aRecord } from "./a-record.ts";
import { FACTS, planOf, summarize } from "./a-summary.ts";
import { arbitraryRecord } from "./arbitrary-record.ts";

const BENCHFLOW = new URL("../../fixtures/benchflow-0.7.12/", import.meta.url);

test.each([
  "oracle-t3/2026-11-30__04-35-06/",
  "faults-no-retry/2026-11-30__04-39-55/",
  "trials2-matrix/control/trial-01/2026-11-30__04-42-02/",
  "trials2-matrix/control/trial-02/2026-11-30__04-42-40/",
])("BenchFlow's own summary of %s is reproduced from its trials", (folder) => {
  const job = new URL(folder, BENCHFLOW);
  const records = readdirSync(job)
    .filter((name) => name.includes("__"))
    .map((rolloutName) => {
      const text = readFileSync(new URL(`${rolloutName}/result.json`, job), "utf8");
      const reading = readTrialResult(text, { rolloutName });
      if (reading.kind === "malformed") throw new Error(reading.reason);
      return reading.record;
    });
  const theirs = JSON.parse(readFileSync(new URL("summary.json", job), "utf8")) as JobSummary;
  const facts: JobFacts = {
    ...FACTS,
    jobName: theirs.job_name,
    agent: theirs.agent,
    model: theirs.model,
    concurrency: theirs.concurrency,
  };
  const ours = summarizeJob(facts, {
    records,
    planned: null,
    quarantined: [],
    killedAttempts: 0,
  });
  expect(Object.keys(ours).slice(0, Object.keys(theirs).length)).toEqual(Object.keys(theirs));
  // Their elapsed_sec was overwritten by an empty resume; no reviewer ran.
  expect(ours).toMatchObject({ ...theirs, reviewer: null, elapsed_sec: expect.any(Number) });
});

test("the mission page's third repeat is 2 of 3, 66.7%", () => {
  const summary = summarize([
    aRecord({ taskName: "econ-detrending-correlation" }),
    aRecord({ taskName: "offer-letter-generator" }),
    aRecord({
      taskName: "crystallographic-wyckoff-position-analysis",
      reward: 0,
      error: { category: "timeout", message: "Agent prompt exceeded wall-clock budget 900s" },
    }),
  ]);
  expect(summary).toMatchObject({
    total: 3,
    passed: 2,
    failed: 1,
    errored: 0,
    score: "66.7%",
    score_ratio: 2 / 3,
    mean_reward: 2 / 3,
    error_categories: { timeout: 1 },
    total_tokens: 3000,
    total_cost_usd: null,
  });
});

test("the text is the same for any order of the attempts", () => {
  const records = fc
    .array(fc.tuple(arbitraryRecord, fc.constantFrom("a", "b", "c")), { maxLength: 12 })
    .map((pairs) =>
      // Several attempts of the same few tasks, each in a folder of its own.
      pairs.map(([record, taskName], index) =>
        Object.assign(record, { taskName, rolloutName: `${taskName}__${index}`, taskDigest: null }),
      ),
    );
  const shuffled = records.chain((all) =>
    fc.tuple(
      fc.constant(all),
      fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length }),
    ),
  );
  fc.assert(
    fc.property(shuffled, ([one, other]) => {
      const summary = summarize(one);
      expect(renderSummary(summarize(other))).toBe(renderSummary(summary));
      expect(JobSummary.safeParse(JSON.parse(renderSummary(summary))).error).toBeUndefined();
    }),
    { numRuns: 60 },
  );
});

test("the counts always add up to the planned trials", () => {
  const tasks = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 4 });
  fc.assert(
    fc.property(fc.array(arbitraryRecord, { maxLength: 8 }), tasks, (records, names) => {
      const named = records.map((record, index) => ({
        ...record,
        taskName: ["a", "b", "c"][index % 3] ?? "",
      }));
      const planned = planOf(...new Set(names));
      const { coverage, ...summary } = summarize(named, { planned });
      const { passed, failed, errored, verifier_errored: verifierErrored, total } = summary;
      expect(passed + failed + errored + verifierErrored).toBe(total);
      expect(total + coverage.stopped + coverage.never_started).toBe(coverage.planned);
      expect(coverage.scored + coverage.unscored).toBe(total);
      expect(coverage.planned).toBe(new Set(names).size);
      const faults = Object.values(coverage.unscored_by_fault).reduce((sum, one) => sum + one, 0);
      expect(faults).toBe(coverage.unscored);
    }),
  );
});

test("trials without a score stay in the planned view and out of the scored one (C-5)", () => {
  const summary = summarize([
    aRecord({ taskName: "a" }),
    aRecord({ taskName: "b" }),
    aRecord({ taskName: "c", unscored: "verifier_failure" }),
    aRecord({ taskName: "d", unscored: "infra_failure" }),
    aRecord({ taskName: "e", unscored: "no_verdict" }),
  ]);
  expect(summary.score_ratio).toBe(2 / 5);
  expect(summary.score_excl_errors_ratio).toBe(1);
  expect(summary.mean_reward).toBe(1);
  expect(summary.views.scored).toMatchObject({ passed: 2, trials: 2, pass_rate: 1 });
  expect(summary.views.planned).toMatchObject({
    passed: 2,
    trials: 5,
    pass_rate: 0.4,
    lowest: 0.4,
    highest: 1,
  });
});

test("6 passed, 2 failed, 1 void give 75% of the scored, and bounds of 67% and 78%", () => {
  const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
  const records = names.map((taskName, index) => aRecord({ taskName, reward: index < 6 ? 1 : 0 }));
  const { views } = summarize([...records, aRecord({ taskName: "i", unscored: "infra_failure" })]);
  expect(views.scored.pass_rate).toBe(0.75);
  expect(views.scored.interval_95?.map((end) => Math.round(end * 100))).toEqual([41, 93]);
  expect(views.planned.lowest).toBeCloseTo(0.6667, 4);
  expect(views.planned.highest).toBeCloseTo(0.7778, 4);
  expect(views.planned.interval_95?.map((end) => Math.round(end * 100))).toEqual([35, 94]);
});

test("C-21: one pass and two time-outs without a score are 33%, between 33% and 100%, never 100% alone", () => {
  const timedOut = { unscored: "idle_timeout" } as const;
  const summary = summarize([
    aRecord({ taskName: "a" }),
    aRecord({ taskName: "b", ...timedOut }),
    aRecord({ taskName: "c", ...timedOut }),
  ]);
  expect(summary).toMatchObject({ score: "33.3%", score_ratio: 1 / 3, passed: 1, total: 3 });
  const { planned, scored } = summary.views;
  expect(planned).toMatchObject({
    passed: 1,
    trials: 3,
    pass_rate: 1 / 3,
    lowest: 1 / 3,
    highest: 1,
  });
  // The other view says of how many it is.
  expect(scored).toMatchObject({ passed: 1, trials: 1, pass_rate: 1 });
  // An agent that tries again until it has three verdicts is not below one that gave up on two of them.
  const patient = summarize(
    ["a", "b", "c"].map((taskName, at) => aRecord({ taskName, reward: at < 2 ? 1 : 0 })),
  );
  expect(patient.views.planned.pass_rate).toBeGreaterThan(planned.pass_rate ?? 1);
});

test("stopped and never started trials are in the coverage, not in total and score (C-14)", () => {
  const summary = summarize(
    [
      aRecord({ taskName: "a" }),
      aRecord({ taskName: "b", unscored: "budget_stopped" }),
      aRecord({ taskName: "c", unscored: "interrupted" }),
    ],
    { planned: planOf("a", "b", "c", "d") },
  );
  expect(summary).toMatchObject({ total: 1, passed: 1, score: "100.0%" });
  expect(summary.coverage).toMatchObject({
    planned: 4,
    scored: 1,
    stopped: 2,
    never_started: 1,
    unscored: 0,
  });
});

test("without a single trial rates are unknown, not 0", () => {
  const summary = summarize([]);
  expect(summary).toMatchObject({ total: 0, score: "-", score_ratio: null, mean_reward: null });
  expect(summary.views.scored.interval_95).toBeNull();
  expect(summary.solve_rates.solve_rate).toBeNull();
});

test("files set aside are listed in order of path", () => {
  const quarantined = [
    { path: "b/result.json", reason: "y" },
    { path: "a/result.json", reason: "x" },
  ];
  expect(summarize([], { quarantined }).quarantined.map((one) => one.path)).toEqual([
    "a/result.json",
    "b/result.json",
  ]);
});
