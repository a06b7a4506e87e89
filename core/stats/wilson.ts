/** An interval of a rate, both ends inside [0, 1]. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

const Z_95 = 1.959963984540054;

/**
 * Wilson's 95% score interval for `passes` of `trials` (Wilson 1927), which keeps its coverage for
 * small counts where the normal one does not (Bowyer et al. 2025). It takes the trials as
 * independent: repeats of one task are not, so over several repeats an interval over tasks is the
 * honest one. Null without trials.
 */
export function wilsonInterval(passes: number, trials: number): Interval | null {
  if (trials === 0) return null;
  const rate = passes / trials;
  const zz = Z_95 * Z_95;
  const centre = (rate + zz / (2 * trials)) / (1 + zz / trials);
  const spread = Math.sqrt((rate * (1 - rate)) / trials + zz / (4 * trials * trials));
  const half = (Z_95 / (1 + zz / trials)) * spread;
  return {
    // Rounding would leave 1e-17 where the end is exact.
    low: passes === 0 ? 0 : Math.max(0, centre - half),
    high: passes === trials ? 1 : Math.min(1, centre + half),
  };
}
