/** `part / whole`, null when there is no whole: a rate of nothing is unknown, not 0. */
export function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

/** The largest of the values, 0 when there are none. A loop, since a spread of many overflows. */
export function largest(values: readonly number[]): number {
  return values.reduce((most, one) => Math.max(most, one), 0);
}
