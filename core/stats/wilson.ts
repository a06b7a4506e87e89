import type { Interval } from "./interval.ts";
import { Z_95 } from "./normal-distribution.ts";

/**
 * Wilson's 95% score interval for `passes` of `trials` (Wilson 1927; statistics D2), which keeps its
 * coverage for small counts where the normal one does not (Bowyer et al. 2025):
 * `(p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)`. It takes the trials as independent: repeats
 * of one task are not, so over several repeats an interval over tasks is the honest one. Not for
 * rewards between 0 and 1. Null without trials; throws a `RangeError` for what is no count of passes.
 */
export function wilsonInterval(passes: number, trials: number): Interval | null {
  if (!Number.isInteger(passes) || passes < 0 || passes > trials) {
    throw new RangeError(`${passes} of ${trials} is no count of passes`);
  }
  return trials === 0 ? null : wilsonOfRate(passes / trials, trials);
}

/**
 * The same for a rate over so many effective observations, for example a rate that every one of
 * `effective` tasks shares (statistics D4): conservative there, since a task says more than a trial.
 */
export function wilsonOfRate(rate: number, effective: number): Interval {
  const zz = Z_95 * Z_95;
  const centre = (rate + zz / (2 * effective)) / (1 + zz / effective);
  const spread = Math.sqrt((rate * (1 - rate)) / effective + zz / (4 * effective * effective));
  const half = (Z_95 / (1 + zz / effective)) * spread;
  return {
    // Rounding would leave 1e-17 where the end is exact.
    low: rate === 0 ? 0 : Math.max(0, centre - half),
    high: rate === 1 ? 1 : Math.min(1, centre + half),
  };
}
