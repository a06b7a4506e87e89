/** An interval of a number, its low end not above its high one. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** A rate lies in [0, 1], and so do the ends of what is said about it. */
export function clampToRates({ low, high }: Interval): Interval {
  return { low: Math.min(1, Math.max(0, low)), high: Math.max(0, Math.min(1, high)) };
}
