import type { JobDocument } from "../model/job-view.ts";
import { compareNames } from "../plan/compare-names.ts";
import { groupBy } from "../plan/group-by.ts";
import { exactSum } from "../stats/exact-sum.ts";
import { errorCategoryOf, verifierCategoryOf } from "./classify-trial.ts";
import { contractCounts } from "./count-trials.ts";
import { denominatorsOf } from "./denominators.ts";
import { allAttempts } from "./group-trials.ts";
import type { Trial } from "./group-trials.ts";
import { runsOf } from "./loaded-job.ts";
import type { LoadedJob, LoadedJobs } from "./loaded-job.ts";
import { mixedImages } from "./mixed-images.ts";
import { ratio } from "./ratio.ts";
import { solveRates } from "./solve-rates.ts";
import { sumSpend } from "./sum-spend.ts";
import { countBy } from "./summarize-trajectory.ts";
import { toTenths } from "./timing.ts";
import { toTrialDocument } from "./trial-document.ts";

/** `benchflow.job` v1 of one job or of a folder of jobs (spec 12.5): what `results --json` prints. */
export function toJobDocument(loaded: LoadedJobs): JobDocument {
  const { jobs } = loaded;
  const trials = jobs.flatMap((job) => job.trials);
  const killed = jobs.reduce((sum, { killedAttempts }) => sum + killedAttempts, 0);
  return {
    kind: "benchflow.job",
    schema_version: 1,
    path: loaded.path,
    job_kind: loaded.kind,
    denominators: denominatorsOf(trials, false),
    denominators_with_controls: denominatorsOf(trials, true),
    cost_usd: sumSpend(jobs.flatMap(allAttempts), killed).costUsd,
    trials: jobs.flatMap((job) => job.trials.map((trial) => toTrialDocument(job, trial))),
    summary: loaded.kind === "evaluation" ? (jobs[0]?.summary ?? null) : null,
    groups: groupsOf(trials),
    interrupted: jobs.flatMap(interruptedOf),
    error_categories: countBy(trials.flatMap(categoriesOf).toSorted()),
    timing_totals: timingTotals(trials),
    solve_rates: solveRates(jobs),
    jobs: jobs.map(toJobRow),
    quarantined: jobs.flatMap((job) => job.quarantined),
    recovered: jobs.flatMap(({ path, recovered }) => recovered.map((name) => `${path}/${name}`)),
    mixed_images: runsOf(jobs).flatMap(mixedOf),
  };
}

/** The document's text: strict JSON, indent 2, final newline. */
export function renderJobDocument(document: JobDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

function groupsOf(trials: readonly Trial[]): JobDocument["groups"] {
  const groups = groupBy(trials, ({ record }) => JSON.stringify([record.agent, record.model]));
  const ordered = [...groups].toSorted(([a], [b]) => compareNames(a, b));
  return ordered.map(([, members]) => ({
    agent: members[0]?.record.agent ?? "",
    model: members[0]?.record.model ?? null,
    denominators: denominatorsOf(members, true),
  }));
}

function interruptedOf(job: LoadedJob): JobDocument["interrupted"] {
  return job.interrupted.map((attempt) => ({
    path: `${job.path}/${attempt.rolloutName}`,
    task_name: attempt.taskName,
    agent: attempt.agent,
    model: attempt.model,
    started_at: attempt.startedAt,
    sandbox_id: attempt.sandboxId,
  }));
}

function categoriesOf({ record }: Trial): string[] {
  return [errorCategoryOf(record), verifierCategoryOf(record)].flatMap((one) => one ?? []);
}

function mixedOf(run: readonly LoadedJob[]): JobDocument["mixed_images"] {
  const paths = run.map(({ path }) => path);
  return mixedImages(run).map((mixed) => Object.assign(mixed, { jobs: paths }));
}

function timingTotals(trials: readonly Trial[]): Record<string, number> {
  const spans = trials.flatMap(({ record }) => Object.entries(record.timing));
  const phases = groupBy(spans, ([phase]) => phase);
  const ordered = [...phases].toSorted(([a], [b]) => compareNames(a, b));
  return Object.fromEntries(ordered.map(([phase, entries]) => [phase, totalOf(entries)]));
}

function totalOf(entries: readonly [string, number][]): number {
  return toTenths(exactSum(entries.map(([, seconds]) => seconds)));
}

function toJobRow(job: LoadedJob): JobDocument["jobs"][number] {
  const { counts, spend } = job;
  return {
    path: job.path,
    job_name: job.jobName,
    alias: job.alias,
    repeat: job.repeat,
    agent: job.agent,
    model: job.model,
    control: job.control,
    planned: counts.planned,
    ...contractCounts(counts),
    stopped: counts.stopped,
    never_started: counts.neverStarted,
    score: ratio(counts.passed, counts.total),
    mean_reward: counts.meanReward,
    total_tokens: spend.totalTokens,
    cost_usd: spend.costUsd,
    attempts: spend.attempts,
    elapsed_sec: job.elapsedSec,
  };
}
