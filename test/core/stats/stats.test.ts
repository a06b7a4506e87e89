import * as fc from "fast-check";
import { expect, test } from "vitest";
import { exactMean, exactSum, sumCounts } from "../../../core/stats/exact-sum.ts";
import { listKs, passAtK, passHatK } from "../../../core/stats/pass-at-k.ts";
import { wilsonInterval } from "../../../core/stats/wilson.ts";

const tally = fc
  .integer({ min: 1, max: 60 })
  .chain((trials) => fc.record({ trials: fc.constant(trials), passes: fc.nat({ max: trials }) }));

test("Wilson's ends are exactly 0 for no pass and exactly 1 for all passed (C-30)", () => {
  for (let trials = 1; trials <= 1000; trials += 1) {
    expect(wilsonInterval(0, trials)?.low).toBe(0);
    expect(wilsonInterval(trials, trials)?.high).toBe(1);
  }
  expect(wilsonInterval(0, 0)).toBeNull();
});

test("Wilson's interval holds the rate and mirrors", () => {
  fc.assert(
    fc.property(tally, ({ trials, passes }) => {
      const interval = wilsonInterval(passes, trials);
      const mirrored = wilsonInterval(trials - passes, trials);
      if (interval === null || mirrored === null) throw new Error("no interval");
      expect(interval.low).toBeLessThanOrEqual(passes / trials);
      expect(interval.high).toBeGreaterThanOrEqual(passes / trials);
      expect(interval.low).toBeCloseTo(1 - mirrored.high, 12);
    }),
  );
});

test.each([
  [1, 1, 1, 1, 1],
  [1, 0, 1, 0, 0],
  [5, 1, 3, 0.6, 0],
  [5, 3, 2, 0.9, 0.3],
  [10, 3, 5, 0.916667, 0],
  [3, 2, 3, 1, 0],
  [200, 1, 100, 0.5, 0],
  [5, 5, 5, 1, 1],
])("pass@k of %i trials with %i passes at k=%i", (...golden) => {
  const [trials, passes, k, at, hat] = golden;
  expect(passAtK({ trials, passes }, k)).toBeCloseTo(at, 6);
  expect(passHatK({ trials, passes }, k)).toBeCloseTo(hat, 6);
});

test("with fewer trials than k neither is known, whatever passed (C-29)", () => {
  for (const [trials, passes, k] of [
    [1, 1, 2],
    [1, 0, 2],
    [2, 0, 3],
  ] as const) {
    expect(passAtK({ trials, passes }, k)).toBeNull();
    expect(passHatK({ trials, passes }, k)).toBeNull();
  }
});

test("pass@1 and pass^1 are the pass rate; with k pass@k grows and pass^k falls", () => {
  fc.assert(
    fc.property(tally, (one) => {
      expect(passAtK(one, 1)).toBeCloseTo(one.passes / one.trials, 12);
      expect(passHatK(one, 1)).toBeCloseTo(one.passes / one.trials, 12);
      for (let k = 2; k <= one.trials; k += 1) {
        expect(passAtK(one, k)).toBeGreaterThanOrEqual((passAtK(one, k - 1) ?? 2) - 1e-12);
        expect(passHatK(one, k)).toBeLessThanOrEqual((passHatK(one, k - 1) ?? -1) + 1e-12);
      }
    }),
  );
});

test("the k of a report are 1, powers of 2 and multiples of 5", () => {
  expect(listKs(3)).toEqual([1, 2]);
  expect(listKs(16)).toEqual([1, 2, 4, 5, 8, 10, 15, 16]);
  expect(listKs(0)).toEqual([]);
});

test("a sum is exact in any order", () => {
  expect(exactSum([1e100, 1, -1e100])).toBe(1);
  expect(exactSum(Array.from({ length: 10 }, () => 0.1))).toBe(1);
  expect(exactSum([])).toBe(0);
  expect(exactMean([])).toBeNull();
  fc.assert(
    fc.property(
      fc.array(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 })),
      (values) => {
        const sorted = values.toSorted((a, b) => a - b);
        expect(exactSum(values) + 0).toBe(exactSum(sorted) + 0);
      },
    ),
  );
});

test("halves between two doubles round to even, as Python's fsum does", () => {
  expect(exactSum([1, 2 ** -53])).toBe(1);
  expect(exactSum([1, 2 ** -53, 2 ** -106])).toBe(1 + 2 ** -52);
  expect(exactSum([1, -(2 ** -54), -(2 ** -108)])).toBe(1 - 2 ** -53);
});

test("counts add up beyond 31 and 53 bits (C-44)", () => {
  expect(sumCounts([2_147_483_647, 1])).toBe(2_147_483_648);
  expect(sumCounts([3_000_000_000, 3_000_000_000])).toBe(6_000_000_000);
  const most = Number.MAX_SAFE_INTEGER;
  expect(sumCounts([most, 1, 1, 1])).toBe(9_007_199_254_740_994);
});
