import type { BucketRates } from "../model/usage-price.ts";

/** US dollars per million tokens as a list gives them; only input and output must be there. */
export interface ListedPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite5m?: number | undefined;
  readonly cacheWrite1h?: number | undefined;
}

const NANO = 1_000_000_000;

/**
 * Rates of all five buckets. A cache read or write without a price of its own is billed as input, as
 * providers do that list none. A list that prices 5 minute writes above input but no 1 hour ones gets
 * Anthropic's rule for them, twice the input.
 */
export function bucketRates(listed: ListedPrices): BucketRates {
  const input = nanoUsd(listed.input);
  const cacheWrite5m = listed.cacheWrite5m === undefined ? input : nanoUsd(listed.cacheWrite5m);
  const assumed1h = cacheWrite5m > input ? Math.max(input * 2, cacheWrite5m) : cacheWrite5m;
  return {
    input,
    output: nanoUsd(listed.output),
    cacheRead: listed.cacheRead === undefined ? input : nanoUsd(listed.cacheRead),
    cacheWrite5m,
    cacheWrite1h: listed.cacheWrite1h === undefined ? assumed1h : nanoUsd(listed.cacheWrite1h),
  };
}

/** True when `bucketRates` had to assume the 1 hour price. */
export function assumesLongWrites(listed: ListedPrices): boolean {
  const hasShort = listed.cacheWrite5m !== undefined && listed.cacheWrite5m > listed.input;
  return hasShort && listed.cacheWrite1h === undefined;
}

/** Dollars to nano-dollars; a price finer than that is rounded up. */
export function nanoUsd(usd: number): number {
  const nano = usd * NANO;
  const nearest = Math.round(nano);
  // Decimal prices are not exact in binary; what lies within a millionth of a unit is that unit.
  return Math.abs(nano - nearest) < 1e-6 * Math.max(1, nearest) ? nearest : Math.ceil(nano);
}
