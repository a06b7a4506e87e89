import { exactMean, exactSum } from "./exact-sum.ts";
import type { Interval } from "./interval.ts";
import { sampleVariance } from "./standard-error.ts";
import { studentQuantile } from "./student-distribution.ts";

/**
 * What `trials` trials will cost in all, from the costs of a pilot: `N·m ± t(n-1, .975)·s·sqrt(N + N²/n)`
 * (the prediction interval of a sum; statistics D10). It takes costs as near normal, which they are
 * not: a wide interval says that the pilot says little, a narrow one does not promise. Never a basis
 * for reservations. `interval` is null for fewer than 2 costs; null without any.
 */
export function forecastCost(
  costs: readonly number[],
  trials: number,
): { readonly total: number; readonly interval: Interval | null } | null {
  const mean = exactMean(costs);
  if (mean === null) return null;
  const total = trials * mean;
  const variance = sampleVariance(costs);
  if (variance === null) return { total, interval: null };
  const spread = Math.sqrt(variance * (trials + trials ** 2 / costs.length));
  const half = studentQuantile(costs.length - 1, 0.95) * spread;
  return { total, interval: { low: total - half, high: total + half } };
}

/** Total spend, voids and retries included, for each pass (statistics D10); null without a pass. */
export function costPerPass(costs: readonly number[], passes: number): number | null {
  return passes === 0 ? null : exactSum(costs) / passes;
}

/**
 * The value below which a share `level` of the values lies, nearest rank: `sorted[ceil(level·n)]`. For
 * costs with heavy tails, of which the mean says little. Null without values.
 */
export function nearestRank(values: readonly number[], level: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(1, Math.ceil(level * sorted.length)) - 1] ?? null;
}
