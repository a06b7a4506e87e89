import { betaQuantile } from "./beta-distribution.ts";
import type { Interval } from "./interval.ts";

/**
 * Clopper and Pearson's exact 95% interval for `passes` of `trials` (1934): the rates at which so many
 * passes or more, and so many or fewer, each have a chance of 2.5%; low `B⁻¹(.025; c, n-c+1)`, high
 * `B⁻¹(.975; c+1, n-c)`. It never covers less than 95%, and is wider than Wilson's for it. It takes the
 * trials as independent: not for repeats of one task, nor for rewards between 0 and 1. Null without
 * trials; throws a `RangeError` for what is no count of passes.
 */
export function clopperPearsonInterval(passes: number, trials: number): Interval | null {
  if (!Number.isInteger(passes) || passes < 0 || passes > trials) {
    throw new RangeError(`${passes} of ${trials} is no count of passes`);
  }
  if (trials === 0) return null;
  const failures = trials - passes;
  return {
    low: passes === 0 ? 0 : betaQuantile(passes, failures + 1, 0.025),
    // Through the failures' low end, whose digits are exact near 0.
    high: failures === 0 ? 1 : 1 - betaQuantile(failures, passes + 1, 0.025),
  };
}
