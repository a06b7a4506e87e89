import { exactMean } from "./exact-sum.ts";
import { clampToRates, type Interval } from "./interval.ts";
import { normalCdf } from "./normal-distribution.ts";
import { studentQuantile } from "./student-distribution.ts";
import {
  enumerateTasks,
  MAX_ENUMERATED_TASKS,
  RESAMPLES,
  resampleTasks,
} from "./task-bootstrap.ts";
import { wilsonInterval, wilsonOfRate } from "./wilson.ts";

/** A 95% interval over tasks, and everything that is needed to compute it again. */
export interface TaskInterval extends Interval {
  /**
   * `enumerated`: every resample of the tasks. `resampled`: so many drawn. `wilson-tasks`: all tasks
   * have one rate, so that no resample differs; Wilson's with each task as one trial, conservative.
   * `wilson-trials`: one task alone, whose trials are all there is; it says nothing about other tasks.
   */
  readonly method: "enumerated" | "resampled" | "wilson-tasks" | "wilson-trials";
  readonly tasks: number;
  /** The share of resamples outside each end; null where nothing is resampled. */
  readonly level: number | null;
  readonly resamples: number | null;
  readonly seed: number | null;
}

/** Seed of every interval unless another is asked for. */
export const DEFAULT_SEED = 0;

/** What one task's trials came to: `rate` of them passed, or their mean score. */
export interface TaskRate {
  readonly rate: number;
  readonly trials: number;
}

/**
 * The 95% interval of the mean of the tasks' rates, as a report prints it (statistics D4): tasks are
 * resampled, each with its own rate. Up to 8 tasks all resamples are counted at 2.5% on each side.
 * From 9 on the levels are widened to `Φ(-t(T-1, .975)·sqrt(T/(T-1)))` (Hesterberg 2015, expanded
 * percentile), since the plain bootstrap's intervals are too narrow by the factor sqrt((T-1)/T) and by
 * Student's for few tasks. Tasks are taken as a random sample of those that are meant. Not for a
 * comparison (pair by task) nor for few failures or passes over all tasks (docs/statistics.md). The
 * rates lie in [0, 1]. Null without tasks.
 */
export function taskInterval(tasks: readonly TaskRate[], seed = DEFAULT_SEED): TaskInterval | null {
  const rates = tasks.map(({ rate }) => rate);
  const [first] = tasks;
  const mean = exactMean(rates);
  if (first === undefined || mean === null) return null;
  const plain = { tasks: rates.length, level: null, resamples: null, seed: null };
  if (rates.length === 1) {
    return { ...wilsonOfTask(first), method: "wilson-trials", ...plain };
  }
  if (rates.every((rate) => rate === first.rate)) {
    return { ...wilsonOfRate(first.rate, rates.length), method: "wilson-tasks", ...plain };
  }
  if (rates.length <= MAX_ENUMERATED_TASKS) {
    const ends = clampToRates(enumerateTasks(rates, PLAIN_LEVEL));
    return { ...ends, ...plain, method: "enumerated", level: PLAIN_LEVEL };
  }
  const level = widenedLevel(rates.length);
  const ends = clampToRates(resampleTasks(rates, level, seed));
  return { ...ends, ...plain, method: "resampled", level, resamples: RESAMPLES, seed };
}

const PLAIN_LEVEL = 0.025;

/** The widened level for so many tasks: 0.0072 for 9, near 0.025 for thousands. */
export function widenedLevel(tasks: number): number {
  return normalCdf(-studentQuantile(tasks - 1, 0.95) * Math.sqrt(tasks / (tasks - 1)));
}

function wilsonOfTask({ rate, trials }: TaskRate): Interval {
  const passes = Math.round(rate * trials);
  const isCount = Math.abs(passes - rate * trials) < 1e-9;
  return (isCount ? wilsonInterval(passes, trials) : null) ?? wilsonOfRate(rate, trials);
}
