import { exactSum } from "./exact-sum.ts";
import type { Interval } from "./interval.ts";
import { seededDraws } from "./seeded-draws.ts";

/** Up to so many tasks every resample is counted. */
export const MAX_ENUMERATED_TASKS = 8;
/** Resamples drawn for more. */
export const RESAMPLES = 10_000;

/**
 * The percentile interval of the mean over tasks when tasks are resampled with replacement (Efron
 * 1979), every resample counted: the smallest mean with at least `level` of the chance at or below it,
 * and the largest with as much at or above. Tasks are a random sample of those meant; nothing is
 * assumed about trials of one task. For up to 8 tasks, and too narrow for so few: say so.
 */
export function enumerateTasks(means: readonly number[], level: number): Interval {
  const count = means.length;
  const outcomes = resampleMeans(means.toSorted((a, b) => a - b));
  const least = level * count ** count;
  return {
    low: firstReaching(outcomes, least),
    high: firstReaching(outcomes.toReversed(), least),
  };
}

interface Outcome {
  readonly mean: number;
  /** How many of the n^n resamples have this mean. */
  readonly ways: number;
}

function firstReaching(outcomes: readonly Outcome[], least: number): number {
  let ways = 0;
  for (const outcome of outcomes) {
    ways += outcome.ways;
    if (ways >= least) return outcome.mean;
  }
  throw new RangeError(`${least} is more than all resamples`);
}

/** Every multiset of tasks once, with the number of orders it can be drawn in; by mean. */
function resampleMeans(means: readonly number[]): Outcome[] {
  const count = means.length;
  const ways = new Map<number, number>();
  const drawn = means.map(() => 0);
  const visit = (index: number, left: number, orders: number): void => {
    if (index === count - 1) {
      drawn[index] = left;
      const mean = exactSum(means.map((one, at) => one * (drawn[at] ?? 0))) / count;
      ways.set(mean, (ways.get(mean) ?? 0) + orders);
      return;
    }
    for (let times = 0; times <= left; times += 1) {
      drawn[index] = times;
      visit(index + 1, left - times, orders * choose(left, times));
    }
  };
  visit(0, count, 1);
  return [...ways]
    .map(([mean, number]) => ({ mean, ways: number }))
    .toSorted((a, b) => a.mean - b.mean);
}

function choose(of: number, some: number): number {
  let ways = 1;
  for (let i = 1; i <= some; i += 1) ways = (ways * (of - some + i)) / i;
  return ways;
}

/**
 * The same interval from `RESAMPLES` seeded resamples: the k-th smallest and the k-th largest mean,
 * `k = floor(level·(B+1))`, at least 1 (Efron & Tibshirani 1993, 12.5). The tasks' order does not
 * matter. At least 2 tasks.
 */
export function resampleTasks(means: readonly number[], level: number, seed: number): Interval {
  const sorted = Float64Array.from(means).toSorted();
  const draw = seededDraws(seed);
  const resampled = new Float64Array(RESAMPLES);
  for (let resample = 0; resample < RESAMPLES; resample += 1) {
    let sum = 0;
    for (let drawn = 0; drawn < sorted.length; drawn += 1) sum += sorted[draw(sorted.length)] ?? 0;
    resampled[resample] = sum / sorted.length;
  }
  const ordered = resampled.toSorted();
  const rank = Math.max(1, Math.floor(level * (RESAMPLES + 1)));
  const [low, high] = [ordered[rank - 1], ordered[RESAMPLES - rank]];
  if (low === undefined || high === undefined) throw new RangeError(`${level} is no level`);
  return { low, high };
}
