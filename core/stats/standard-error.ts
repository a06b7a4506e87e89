import { exactMean, exactSum } from "./exact-sum.ts";

/** The scores of one task's trials. */
export type TaskScores = readonly number[];

/** The mean of each task that has a score. */
export function taskMeans(tasks: readonly TaskScores[]): number[] {
  return tasks.flatMap((scores) => exactMean(scores) ?? []);
}

/** The sample's variance, with n - 1 below; null for fewer than 2 values. */
export function sampleVariance(values: readonly number[]): number | null {
  const mean = exactMean(values);
  if (mean === null || values.length < 2) return null;
  return exactSum(values.map((value) => (value - mean) ** 2)) / (values.length - 1);
}

/**
 * The central limit theorem's standard error of a mean: `sqrt(Σ(s-m)²/(n(n-1)))` (Miller 2024 eq. 1).
 * It takes the values as independent: right for task means, too small for repeats of tasks (use
 * `taskMeansError`). Not for intervals of few values. Null, not 0, for fewer than 2.
 */
export function standardError(values: readonly number[]): number | null {
  const variance = sampleVariance(values);
  return variance === null ? null : Math.sqrt(variance / values.length);
}

/**
 * The standard error of the mean over trials, clustered by task (Miller 2024 eq. 4):
 * `SE² = SE²_CLT + Σ_t Σ_{i≠j} (s_ti-m)(s_tj-m) / n²`. Tasks are independent, trials of one are not. It
 * has no correction for few clusters and is too small for fewer than some 30 tasks. Null for fewer
 * than 2 trials.
 */
export function clusteredError(tasks: readonly TaskScores[]): number | null {
  const all = tasks.flat();
  const mean = exactMean(all);
  const variance = sampleVariance(all);
  if (mean === null || variance === null) return null;
  const pairs = exactSum(
    tasks.map((scores) => {
      const off = scores.map((score) => score - mean);
      return exactSum(off) ** 2 - exactSum(off.map((one) => one * one));
    }),
  );
  // Within tasks trials may repel each other so far that rounding leaves less than nothing.
  return Math.sqrt(Math.max(0, variance / all.length + pairs / all.length ** 2));
}

/**
 * The same with the correction for few clusters that Inspect uses:
 * `sqrt(Σ_t (Σ_i (s_ti-m))² · T/(T-1)) / n`. With equally many trials a task it is the standard error
 * of the task means. Null for fewer than 2 tasks.
 */
export function correctedClusteredError(tasks: readonly TaskScores[]): number | null {
  const tried = tasks.filter((scores) => scores.length > 0);
  const all = tried.flat();
  const mean = exactMean(all);
  if (mean === null || tried.length < 2) return null;
  const squares = exactSum(
    tried.map((scores) => exactSum(scores.map((score) => score - mean)) ** 2),
  );
  return Math.sqrt((squares * tried.length) / (tried.length - 1)) / all.length;
}

/**
 * The standard error of the mean over tasks: average each task's trials, then take the tasks as
 * independent (Miller 2024, section 3.2). It holds the chance within tasks already, and is what a rate
 * over tasks should have. Null for fewer than 2 tasks.
 */
export function taskMeansError(tasks: readonly TaskScores[]): number | null {
  return standardError(taskMeans(tasks));
}
