import * as fc from "fast-check";
import { expect, test } from "vitest";
import { NO_TOKENS, promptTokens } from "../../../core/model/usage-buckets.ts";
import type { TokenBuckets } from "../../../core/model/usage-buckets.ts";
import type { BucketRates, PriceCard, RateTable } from "../../../core/model/usage-price.ts";
import { bucketRates, nanoUsd } from "../../../core/usage/bucket-rates.ts";
import { isFree, priceBound, priceTokens } from "../../../core/usage/price-tokens.ts";

const SONNET: RateTable = {
  base: bucketRates({ input: 3, output: 15, cacheRead: 0.3, cacheWrite5m: 3.75, cacheWrite1h: 6 }),
  tiers: [
    {
      above: 200_000,
      rates: bucketRates({
        input: 6,
        output: 22.5,
        cacheRead: 0.6,
        cacheWrite5m: 7.5,
        cacheWrite1h: 12,
      }),
    },
  ],
};

function card(now: RateTable, soon: RateTable[] = [], perCall = 0): PriceCard {
  return {
    provider: "p",
    model: "m",
    source: "test",
    date: null,
    urls: [],
    now,
    soon,
    perCall,
    contextTokens: null,
    maxOutputTokens: null,
    caveats: [],
  };
}

const rate = fc.integer({ min: 0, max: 200_000_000_000 });
const rates: fc.Arbitrary<BucketRates> = fc.record({
  input: rate,
  output: rate,
  cacheRead: rate,
  cacheWrite5m: rate,
  cacheWrite1h: rate,
});
const table: fc.Arbitrary<RateTable> = fc.record({
  base: rates,
  tiers: fc.array(fc.record({ above: fc.integer({ min: 1, max: 2_000_000 }), rates }), {
    maxLength: 3,
  }),
});
const count = fc.nat(1_000_000);
const tokens: fc.Arbitrary<TokenBuckets> = fc.record({
  input: count,
  output: count,
  cacheRead: count,
  cacheWrite5m: count,
  cacheWrite1h: count,
});

test("the recorded call costs what its list says, to the micro-dollar", () => {
  const recorded = {
    ...NO_TOKENS,
    input: 78_170,
    output: 8_817,
    cacheRead: 204_853,
    cacheWrite5m: 47_669,
  };
  // More than 200,000 prompt tokens: the upper tier. 0.46902 + 0.1983825 + 0.1229118 + 0.3575175.
  expect(priceTokens(card(SONNET), recorded)).toBe(1_147_832);
  const haiku = bucketRates({ input: 1, output: 5, cacheRead: 0.1, cacheWrite5m: 1.25 });
  expect(priceTokens(card({ base: haiku, tiers: [] }), recorded)).toBe(202_327);
});

test("a 1 hour write of 0.1 M costs twice the input, exactly at the tier's edge the lower price", () => {
  expect(priceTokens(card(SONNET), { ...NO_TOKENS, cacheWrite1h: 100_000 })).toBe(600_000);
  expect(priceTokens(card(SONNET), { ...NO_TOKENS, input: 200_000 })).toBe(600_000);
  expect(priceTokens(card(SONNET), { ...NO_TOKENS, input: 200_001 })).toBe(1_200_006);
});

test("a fraction of a micro-dollar is rounded up, nothing costs nothing", () => {
  const cheap = card({ base: bucketRates({ input: 0.0028, output: 0.1 }), tiers: [] });
  expect(priceTokens(cheap, { ...NO_TOKENS, input: 1 })).toBe(1);
  expect(priceTokens(cheap, NO_TOKENS)).toBe(0);
  expect(priceTokens(card(SONNET, [], nanoUsd(0.005)), NO_TOKENS)).toBe(5_000);
});

test("prices are held exactly: no decimal price is off by a unit", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999 }), (millionths) => {
      expect(nanoUsd(Number((millionths / 1e6).toFixed(6)))).toBe(millionths * 1000);
    }),
  );
  expect(nanoUsd(0.000_000_000_1)).toBe(1);
});

test("no usage within a bound costs more than the bound's price", () => {
  fc.assert(
    fc.property(
      table,
      fc.array(table, { maxLength: 2 }),
      tokens,
      count,
      (now, soon, used, spare) => {
        const priced = card(now, soon);
        const bound = { input: promptTokens(used) + spare, output: used.output + spare };
        const most = priceBound(priced, bound);
        expect(priceTokens(priced, used)).toBeLessThanOrEqual(most);
        // Whichever table applies when the bill is made.
        for (const later of soon) expect(priceTokens(card(later), used)).toBeLessThanOrEqual(most);
        expect(Number.isSafeInteger(most)).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

test("a tier out of reach does not raise the bound", () => {
  expect(priceBound(card(SONNET), { input: 100_000, output: 1000 })).toBe(615_000);
  expect(priceBound(card(SONNET), { input: 200_001, output: 1000 })).toBe(2_422_512);
});

test("a missing price of a cache is the input's, of 1 hour writes Anthropic's rule", () => {
  const plain = bucketRates({ input: 2, output: 8 });
  expect([plain.cacheRead, plain.cacheWrite5m, plain.cacheWrite1h]).toEqual([2e9, 2e9, 2e9]);
  expect(bucketRates({ input: 2, output: 8, cacheWrite5m: 2.5 }).cacheWrite1h).toBe(4e9);
});

test("free is a price of zero everywhere, and only that", () => {
  const zero = { base: bucketRates({ input: 0, output: 0 }), tiers: [] };
  expect(isFree(card(zero))).toBe(true);
  expect(isFree(card(zero, [SONNET]))).toBe(false);
  expect(isFree(card({ ...zero, tiers: SONNET.tiers }))).toBe(false);
  expect(isFree(card(zero, [], 1))).toBe(false);
});
