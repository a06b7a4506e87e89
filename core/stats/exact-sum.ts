/**
 * The sum of the values, correctly rounded, so that it is the same in any order (Shewchuk 1997, the
 * method behind Python's `math.fsum`). The values are finite.
 */
export function exactSum(values: Iterable<number>): number {
  let partials: number[] = [];
  for (const value of values) {
    let carry = value;
    const next: number[] = [];
    for (const partial of partials) {
      const [large, small] =
        Math.abs(carry) < Math.abs(partial) ? [partial, carry] : [carry, partial];
      const high = large + small;
      const low = small - (high - large);
      if (low !== 0) next.push(low);
      carry = high;
    }
    next.push(carry);
    partials = next;
  }
  return roundPartials(partials);
}

/** Adds the parts, which do not overlap, from the largest, and rounds halves as one addition would. */
function roundPartials(partials: readonly number[]): number {
  let high = 0;
  let low = 0;
  let at = partials.length - 1;
  for (; at >= 0 && low === 0; at -= 1) {
    const before = high;
    const part = partials[at] ?? 0;
    high = before + part;
    low = part - (high - before);
  }
  const rest = partials[at] ?? 0;
  if ((low < 0 && rest < 0) || (low > 0 && rest > 0)) {
    const twice = low * 2;
    const up = high + twice;
    if (twice === up - high) return up;
  }
  return high;
}

/** The mean of the values; null when there are none. */
export function exactMean(values: readonly number[]): number | null {
  return values.length === 0 ? null : exactSum(values) / values.length;
}

/**
 * The sum of whole numbers without the limits of 32 or 53 bits (failures C-44): exact, and rounded
 * once where a double cannot hold it.
 */
export function sumCounts(counts: Iterable<number>): number {
  let sum = 0n;
  for (const count of counts) sum += BigInt(count);
  return Number(sum);
}
