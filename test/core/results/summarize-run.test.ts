import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { TrialRecord } from "../../../core/model/record.ts";
import { MatrixSummary } from "../../../core/model/matrix-summary.ts";
import { RunSummary } from "../../../core/model/run-summary.ts";
import { groupTrials } from "../../../core/results/group-trials.ts";
import { solveRates } from "../../../core/results/solve-rates.ts";
import { renderMatrixSummary, summarizeMatrix } from "../../../core/results/summarize-matrix.ts";
import {
  evaluateGate,
  exitCodeOf,
  renderRunSummary,
  summarizeRun,
} from "../../../core/results/summarize-run.ts";
import type { EndedJob, GateSettings } from "../../../core/results/summarize-run.ts";
import { planOf } from "./a-summary.ts";
import { aRecord } from "./a-record.ts";

const TASKS = ["econ", "offer", "wyckoff"];
const NO_GATE: GateSettings = { failUnder: null, failOn: [] };

/** A repeat in which the named tasks have these rewards; null is a verifier without a verdict. */
function repeat(rewards: readonly (number | null)[], wish: Partial<TrialRecord> = {}) {
  const records = rewards.map((reward, index) => {
    const taskName = TASKS[index] ?? `task-${index}`;
    return reward === null
      ? aRecord({ taskName, unscored: "verifier_failure", ...wish })
      : aRecord({ taskName, reward, ...wish });
  });
  return groupTrials(records, null);
}

function ended(trials: EndedJob["trials"], number = 1): EndedJob {
  const jobDir = `jobs/trial-0${number}/2026-11-04__18-24-21`;
  return { jobDir, jobName: "2026-11-04__18-24-21", repeat: number, trials, reused: 0, ran: 3 };
}

function ending(jobs: readonly EndedJob[], settings = NO_GATE) {
  const gate = evaluateGate(jobs, settings);
  return { runName: "no-skills", gate, exitCode: exitCodeOf(jobs, gate) };
}

test("three repeats of 2/3 are 6 of 9, with pass@k per task and pass^k beside it", () => {
  const jobs = [repeat([1, 1, 0]), repeat([1, 1, 0]), repeat([1, 0, 0])];
  expect(solveRates(jobs)).toMatchObject({
    tasks: 3,
    trials: 9,
    unscored: 0,
    min_trials_per_task: 3,
    max_trials_per_task: 3,
    ks: [1, 2],
    solve_rate: (1 + 2 / 3) / 3,
    pass_at_k: { 1: (1 + 2 / 3) / 3, 2: 2 / 3 },
    pass_hat_k: { 2: (1 + 1 / 3) / 3 },
    tasks_at_k: { 1: 3, 2: 3 },
    tasks_short_at_k: { 1: 0, 2: 0 },
    caveats: [],
  });
});

test("solve rates agree with the golden values", () => {
  const file = new URL("../../fixtures/digest-wilson-passk.json", import.meta.url);
  const golden = JSON.parse(readFileSync(file, "utf8")) as {
    pass_at_k: {
      tasks_n_c: [number, number][];
      k: number;
      pass_at_k: number;
      pass_hat_k: number;
    }[];
  };
  expect(golden.pass_at_k.length).toBe(3);
  for (const { tasks_n_c: tallies, k, ...expected } of golden.pass_at_k) {
    const most = Math.max(...tallies.map(([trials]) => trials));
    const jobs = Array.from({ length: most }, (_, index) =>
      repeat(tallies.map(([, passes]) => (index < passes ? 1 : 0))),
    );
    const rates = solveRates(jobs);
    expect(rates.pass_at_k[k]).toBeCloseTo(expected.pass_at_k, 12);
    expect(rates.pass_hat_k[k]).toBeCloseTo(expected.pass_hat_k, 12);
  }
});

test("a task short of k trials is left out of pass@k and counted as short", () => {
  const rates = solveRates([repeat([1, null, 0]), repeat([0, null, 1]), repeat([1, 1, 1])]);
  expect(rates).toMatchObject({
    trials: 7,
    unscored: 2,
    min_trials_per_task: 1,
    max_trials_per_task: 3,
    ks: [1],
    solve_rate: (2 / 3 + 1 + 2 / 3) / 3,
  });
  expect(rates.caveats).toEqual([
    "2 of 9 trials have no score and are left out",
    "tasks have between 1 and 3 scored trials",
    "some task has fewer than 3 scored trials: a noisy number",
  ]);
});

test("controls are left out of solve rates, whatever they scored", () => {
  const rates = solveRates([
    repeat([1, 1, 1], { agent: "oracle" }),
    repeat([0, 0, 0], { agent: "nop" }),
  ]);
  expect(rates).toMatchObject({
    tasks: 0,
    trials: 0,
    controls_excluded: 6,
    solve_rate: null,
    ks: [],
  });
});

test("a reward of 0.5 is no solve, and the caveat says that there are such rewards", () => {
  const rates = solveRates([repeat([0.5, 1, 0])]);
  expect(rates).toMatchObject({ nonbinary_rewards: 1, solve_rate: 1 / 3 });
  expect(rates.caveats[0]).toBe("1 of 3 rewards are neither 0 nor 1 and count as not solved");
});

const MATRIX_JOBS = [1, 2, 3].map((number) => ({
  alias: "claude-agent-acp",
  repeat: number,
  jobsDir: `jobs/no-skills/claude-agent-acp/trial-0${number}`,
  trials: repeat([1, 1, 0]),
}));

test("matrix-summary.json has the contract's keys, sorted, and a final newline", () => {
  const text = renderMatrixSummary(summarizeMatrix(MATRIX_JOBS, 3));
  const summary = MatrixSummary.parse(JSON.parse(text));
  expect(text.endsWith("}\n")).toBe(true);
  expect(Object.keys(summary)).toEqual(Object.keys(summary).toSorted());
  expect(text).toContain(`  "runs": [
    {
      "alias": "claude-agent-acp",
      "errored": 0,
      "failed": 1,
      "jobs_dir": "jobs/no-skills/claude-agent-acp/trial-01",
      "passed": 2,
      "total": 3,
      "trial": 1,
      "verifier_errored": 0
    },`);
  expect(summary.solve_rates["claude-agent-acp"]).toMatchObject({ trials: 9, solve_rate: 2 / 3 });
});

test("BenchFlow's own matrix summary is reproduced but for the solve rates", () => {
  const file = new URL(
    "../../fixtures/benchflow-0.7.12/trials2-matrix/matrix-summary.json",
    import.meta.url,
  );
  const jobs = [1, 2].map((number) => ({
    alias: "control",
    repeat: number,
    jobsDir: `bf/trials2-matrix/control/trial-0${number}`,
    trials: repeat([1, 1, 1], { agent: "oracle" }),
  }));
  const { solve_rates: rates, ...summary } = JSON.parse(
    renderMatrixSummary(summarizeMatrix(jobs, 2)),
  ) as MatrixSummary;
  const theirs = readFileSync(file, "utf8").replace('"matrix.yaml"', "null");
  expect(`${JSON.stringify(summary, null, 2)}\n`).toBe(theirs);
  expect(rates["control"]).toMatchObject({ controls_excluded: 6 });
});

test("a run of one repeat is the contract's run summary", () => {
  const timedOut = aRecord({
    taskName: "wyckoff",
    reward: 0,
    error: { category: "timeout", message: "Agent prompt exceeded wall-clock budget 900s" },
  });
  const records = [aRecord({ taskName: "econ" }), aRecord({ taskName: "offer" }), timedOut];
  const jobs = [{ ...ended(groupTrials(records, null)), jobDir: "jobs/2026-11-04__18-24-21" }];
  const text = renderRunSummary(summarizeRun(jobs, ending(jobs)));
  expect(RunSummary.parse(JSON.parse(text))).toMatchObject({
    kind: "benchflow.run-summary",
    schema_version: 1,
    job_dir: "jobs/2026-11-04__18-24-21",
    job_name: "2026-11-04__18-24-21",
    total: 3,
    passed: 2,
    failed: 1,
    errored: 0,
    verifier_errored: 0,
    timed_out: 1,
    pass_rate: 0.6666666666666666,
    mean_reward: 0.6666666666666666,
    reused: 0,
    ran: 3,
    gate: { fail_on: [], fail_under: null, failed: [] },
    exit_code: 0,
    budget: null,
  });
});

test("a run of several repeats has their totals, no job folder, and a list of the jobs", () => {
  const jobs = [1, 2, 3].map((number) => ended(repeat([1, 1, 0]), number));
  const summary = summarizeRun(jobs, ending(jobs));
  expect(summary).toMatchObject({
    job_dir: null,
    job_name: "no-skills",
    total: 9,
    passed: 6,
    ran: 9,
  });
  expect(summary.jobs.map((job) => job.job_dir)).toEqual([
    "jobs/trial-01/2026-11-04__18-24-21",
    "jobs/trial-02/2026-11-04__18-24-21",
    "jobs/trial-03/2026-11-04__18-24-21",
  ]);
});

test("a gate says the number, what it is of, and makes the exit code 1", () => {
  const jobs = [ended(repeat([1, 1, 0]))];
  const { gate, exitCode } = ending(jobs, { failUnder: 0.8, failOn: ["timeout"] });
  expect(gate.failed).toEqual(["fail-under 0.8: pass rate 66.7% (2/3)"]);
  expect(exitCode).toBe(1);
  expect(ending(jobs, { failUnder: 0.6, failOn: ["error", "verifier-error"] }).exitCode).toBe(0);
});

test("a trial without a score makes the exit code 1, a failed one does not", () => {
  expect(ending([ended(repeat([0, 0, 0]))]).exitCode).toBe(0);
  expect(ending([ended(repeat([1, 1, null]))]).exitCode).toBe(1);
  const never = groupTrials([aRecord()], planOf("half-life", "other"));
  expect(ending([ended(never)]).exitCode).toBe(1);
});

test("a gate on verifier errors counts them, and on an empty run there is nothing to pass", () => {
  const jobs = [ended(repeat([null, null, 1]))];
  const settings: GateSettings = { failUnder: null, failOn: ["verifier-error"] };
  expect(evaluateGate(jobs, settings).failed).toEqual(["fail-on verifier-error: 2 trial(s)"]);
  expect(evaluateGate([ended(repeat([]))], { failUnder: 0, failOn: [] }).failed).toEqual([
    "fail-under 0: no trial counts",
  ]);
});
