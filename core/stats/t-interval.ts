import { exactMean } from "./exact-sum.ts";
import type { Interval } from "./interval.ts";
import { standardError } from "./standard-error.ts";
import { studentQuantile } from "./student-distribution.ts";

/**
 * Student's 95% interval of a mean: `m ± t(n-1, .975)·SE` (Student 1908). It takes the values as
 * independent and their mean as near normal: not for a handful of task means, of which it says
 * impossible rates, nor for heavy tails. Not clamped. Null for fewer than 2 values.
 */
export function tInterval(values: readonly number[]): Interval | null {
  const mean = exactMean(values);
  const error = standardError(values);
  if (mean === null || error === null) return null;
  const half = studentQuantile(values.length - 1, 0.95) * error;
  return { low: mean - half, high: mean + half };
}
