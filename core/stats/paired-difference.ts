import { exactMean } from "./exact-sum.ts";
import type { Interval } from "./interval.ts";
import { standardError } from "./standard-error.ts";
import { studentPValue } from "./student-distribution.ts";
import { tInterval } from "./t-interval.ts";

/** Two settings on the same tasks. */
export interface PairedDifference {
  /** Mean of the tasks' differences. */
  readonly mean: number;
  /** Null for fewer than 2 tasks. */
  readonly standardError: number | null;
  readonly interval: Interval | null;
  /** Of Student's paired test; null where the differences are all equal, or fewer than 2. */
  readonly pValue: number | null;
}

/**
 * The mean difference of two settings over tasks that both have scores of: `d_t = mean_A - mean_B`,
 * `SE = sd(d)/√T`, t with T-1 (Miller 2024, section 4). It takes tasks as independent and the mean as
 * near normal; for few tasks `signFlipTest` needs neither. Null without tasks.
 */
export function pairedDifference(differences: readonly number[]): PairedDifference | null {
  const mean = exactMean(differences);
  if (mean === null) return null;
  const error = standardError(differences);
  const isSpread = error !== null && error > 0;
  return {
    mean,
    standardError: error,
    interval: isSpread ? tInterval(differences) : null,
    pValue: isSpread ? studentPValue(mean / error, differences.length - 1) : null,
  };
}
