/**
 * Holm's adjusted p values (1979), in the order given: the i-th smallest times m-i+1, never below one
 * before it, at most 1. They keep the chance of any false finding at the level whatever the tests have
 * in common. For one comparison the p value stays what it is.
 */
export function holmAdjust(pValues: readonly number[]): number[] {
  const order = pValues.map((p, index) => ({ p, index })).toSorted((a, b) => a.p - b.p);
  const adjusted: number[] = pValues.map(() => 1);
  let least = 0;
  for (const [rank, { p, index }] of order.entries()) {
    least = Math.min(1, Math.max(least, p * (pValues.length - rank)));
    adjusted[index] = least;
  }
  return adjusted;
}

/**
 * The level of the j-th look at a sweep that may stop at it: `α/(j(j+1))`, which sums to α over all
 * looks (statistics D9). A fixed-n interval that is looked at again and again errs more often.
 */
export function levelOfLook(look: number, level = 0.05): number {
  return level / (look * (look + 1));
}
