import { exactMean, sumCounts } from "../stats/exact-sum.ts";
import { classifyTrial, errorCategoryOf, ranOutOfTime } from "./classify-trial.ts";
import type { TrialClass } from "./classify-trial.ts";
import type { JobTrials, Trial } from "./group-trials.ts";

/**
 * passed + failed + errored + verifierErrored = total, and total + stopped + neverStarted = planned.
 */
export interface TrialCounts {
  readonly planned: number;
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly errored: number;
  readonly verifierErrored: number;
  /** Of the errored: neither reward nor error. */
  readonly noVerdict: number;
  readonly stopped: number;
  readonly neverStarted: number;
  readonly idleTimeouts: number;
  /** Agents that ran out of wall-clock time, scored or not. */
  readonly timedOut: number;
  /** Over the scored trials; null when there are none. */
  readonly meanReward: number | null;
}

export function countTrials(jobs: readonly JobTrials[]): TrialCounts {
  const trials = jobs.flatMap((job) => job.trials);
  const classes = trials.map(({ record }) => classifyTrial(record));
  const count = (wanted: TrialClass): number => classes.filter((one) => one === wanted).length;
  const neverStarted = sumCounts(jobs.map((job) => job.neverStarted.length));
  const stopped = count("stopped");
  return {
    planned: trials.length + neverStarted,
    total: trials.length - stopped,
    passed: count("passed"),
    failed: count("failed"),
    errored: count("errored"),
    verifierErrored: count("verifier_errored"),
    noVerdict: trials.filter(({ record }) => errorCategoryOf(record) === "no_verdict").length,
    stopped,
    neverStarted,
    idleTimeouts: trials.filter(({ record }) => errorCategoryOf(record) === "idle_timeout").length,
    timedOut: trials.filter(({ record }) => ranOutOfTime(record)).length,
    meanReward: exactMean(rewardsOf(trials)),
  };
}

/** The five counts in the contract's spelling: what every file that counts trials begins with. */
export function contractCounts(counts: TrialCounts) {
  return {
    total: counts.total,
    passed: counts.passed,
    failed: counts.failed,
    errored: counts.errored,
    verifier_errored: counts.verifierErrored,
  };
}

/** The rewards of the scored trials. */
export function rewardsOf(trials: readonly Trial[]): number[] {
  return trials.flatMap(({ record: { outcome } }) =>
    outcome.kind === "scored" ? [outcome.reward] : [],
  );
}
