import type { BudgetSummary } from "../model/ledger-budget.ts";
import type { Gate, RunJob, RunSummary } from "../model/run-summary.ts";
import type { FailOn } from "../model/settings.ts";
import { contractCounts, countTrials } from "./count-trials.ts";
import type { TrialCounts } from "./count-trials.ts";
import { formatPercent } from "./format-share.ts";
import type { JobTrials } from "./group-trials.ts";
import { mixedImages } from "./mixed-images.ts";
import { ratio } from "./ratio.ts";
import { suspectTrials } from "./trial-doubts.ts";

/** A repeat as the command left it. */
export interface EndedJob {
  readonly jobDir: string;
  readonly jobName: string;
  readonly repeat: number;
  readonly trials: JobTrials;
  /** Trials kept from an earlier command. */
  readonly reused: number;
  /** Trials that ran in this command. */
  readonly ran: number;
}

export interface GateSettings {
  readonly failUnder: number | null;
  readonly failOn: readonly FailOn[];
}

/**
 * The gate of `--fail-under` and `--fail-on`: each failed check is one line that says the number and
 * what it was taken of. The pass rate is the contract's, passed of total.
 */
export function evaluateGate(jobs: readonly EndedJob[], settings: GateSettings): Gate {
  const counts = countTrials(jobs.map((job) => job.trials));
  const failed = [
    ...underLimit(counts, settings.failUnder),
    ...settings.failOn.flatMap((check) => {
      const found = numberOf(counts, check);
      return found === 0 ? [] : [`fail-on ${check}: ${found} trial(s)`];
    }),
  ];
  return { fail_on: [...settings.failOn], fail_under: settings.failUnder, failed };
}

function underLimit(counts: TrialCounts, limit: number | null): string[] {
  if (limit === null) return [];
  const { passed, total } = counts;
  const rate = ratio(passed, total);
  if (rate === null) return [`fail-under ${limit}: no trial counts`];
  if (rate >= limit) return [];
  return [`fail-under ${limit}: pass rate ${formatPercent(passed, total)} (${passed}/${total})`];
}

function numberOf(counts: TrialCounts, check: FailOn): number {
  switch (check) {
    case "timeout":
      return counts.timedOut;
    case "error":
      return counts.errored;
    case "verifier-error":
      return counts.verifierErrored;
  }
}

/**
 * The exit code of a run that ended by itself: 1 when a planned trial has no score or the gate
 * failed, else 0, whatever the rewards (spec 2.8, design 11).
 */
export function exitCodeOf(jobs: readonly EndedJob[], gate: Gate): 0 | 1 {
  const { planned, passed, failed } = countTrials(jobs.map((job) => job.trials));
  return passed + failed < planned || gate.failed.length > 0 ? 1 : 0;
}

export interface RunEnding {
  /** The run's name, which stands for the job's where there are several. */
  readonly runName: string;
  readonly gate: Gate;
  readonly exitCode: number;
  /** Of the command's pot; null or absent where nobody counts. */
  readonly budget?: BudgetSummary | null;
}

/** The content of `--summary-out` (spec 12.4, design 12). */
export function summarizeRun(jobs: readonly EndedJob[], ending: RunEnding): RunSummary {
  const [first] = jobs;
  const single = jobs.length === 1 ? first : undefined;
  return {
    kind: "benchflow.run-summary",
    schema_version: 1,
    job_dir: single?.jobDir ?? null,
    job_name: single?.jobName ?? ending.runName,
    ...totals(jobs),
    gate: ending.gate,
    exit_code: ending.exitCode,
    budget: ending.budget ?? null,
    ...coverage(jobs),
    jobs: jobs.map((job): RunJob =>
      Object.assign(
        { job_dir: job.jobDir, job_name: job.jobName, repeat: job.repeat },
        totals([job]),
        coverage([job]),
      ),
    ),
    mixed_images: mixedImages(jobs.map((job) => job.trials)),
  };
}

function totals(jobs: readonly EndedJob[]) {
  const counts = countTrials(jobs.map((job) => job.trials));
  return {
    ...contractCounts(counts),
    timed_out: counts.timedOut,
    pass_rate: ratio(counts.passed, counts.total) ?? 0,
    mean_reward: counts.meanReward,
    suspect: suspectTrials(jobs.map((job) => job.trials)).length,
    reused: jobs.reduce((sum, job) => sum + job.reused, 0),
    ran: jobs.reduce((sum, job) => sum + job.ran, 0),
  };
}

function coverage(jobs: readonly EndedJob[]) {
  const { planned, passed, failed } = countTrials(jobs.map((job) => job.trials));
  return { planned, scored: passed + failed };
}

/** The text of the file: indent 2, final newline. */
export function renderRunSummary(summary: RunSummary): string {
  return `${JSON.stringify(summary, null, 2)}\n`;
}
