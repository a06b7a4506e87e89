import { BUCKETS, promptTokens } from "../model/usage-buckets.ts";
import type { TokenBuckets } from "../model/usage-buckets.ts";
import type { BucketRates, PriceCard, RateTable } from "../model/usage-price.ts";

/** Nano-dollars per million tokens times tokens, to micro-dollars. */
const UNITS_PER_MICRO_USD = 1_000_000_000n;
const UNITS_PER_NANO_USD = 1_000_000n;

/** The most that a call can use: its prompt and all of its answers. */
export interface TokenBound {
  readonly input: number;
  readonly output: number;
}

/**
 * What a call costs, in whole micro-dollars, rounded up once at the end so that a sum of calls is
 * never less than was spent. Each call is priced by itself: tiers go by one call's prompt.
 */
export function priceTokens(card: PriceCard, tokens: TokenBuckets): number {
  const rates = ratesFor(card.now, promptTokens(tokens));
  let units = BigInt(card.perCall) * UNITS_PER_NANO_USD;
  for (const bucket of BUCKETS) units += BigInt(tokens[bucket]) * BigInt(rates[bucket]);
  return microUsd(units);
}

/**
 * The most that a call within `bound` can cost, in micro-dollars: every prompt token in the dearest
 * bucket, at the dearest tier that a prompt of up to that length can reach, at the dearest hour. No
 * usage within the bound is priced higher by `priceTokens`.
 */
export function priceBound(card: PriceCard, bound: TokenBound): number {
  const reachable = [card.now, ...card.soon].flatMap((table) => reachableRates(table, bound.input));
  const dearestInput = Math.max(...reachable.map(dearestPromptRate));
  const dearestOutput = Math.max(...reachable.map((rates) => rates.output));
  return microUsd(
    BigInt(card.perCall) * UNITS_PER_NANO_USD +
      BigInt(bound.input) * BigInt(dearestInput) +
      BigInt(bound.output) * BigInt(dearestOutput),
  );
}

/** Every price on the card is zero: a free model, to be shown as such and never as unknown. */
export function isFree(card: PriceCard): boolean {
  return (
    card.perCall === 0 &&
    [card.now, ...card.soon].every(
      ({ base, tiers }) => costsNothing(base) && tiers.every((tier) => costsNothing(tier.rates)),
    )
  );
}

function costsNothing(rates: BucketRates): boolean {
  return BUCKETS.every((bucket) => rates[bucket] === 0);
}

function ratesFor(table: RateTable, prompt: number): BucketRates {
  let { base: rates } = table;
  let above = -1;
  for (const tier of table.tiers) {
    if (prompt <= tier.above || tier.above < above) continue;
    rates = tier.rates;
    above = tier.above;
  }
  return rates;
}

function reachableRates(table: RateTable, prompt: number): BucketRates[] {
  const tiers = table.tiers.filter((tier) => prompt > tier.above);
  return [table.base, ...tiers.map((tier) => tier.rates)];
}

function dearestPromptRate(rates: BucketRates): number {
  return Math.max(rates.input, rates.cacheRead, rates.cacheWrite5m, rates.cacheWrite1h);
}

function microUsd(units: bigint): number {
  return Number((units + UNITS_PER_MICRO_USD - 1n) / UNITS_PER_MICRO_USD);
}
