import { exactSum } from "./exact-sum.ts";
import { seededDraws } from "./seeded-draws.ts";

export interface SignFlipTest {
  readonly pValue: number;
  /** `exact`: all 2^n signs; `drawn`: so many drawn at random with this seed. */
  readonly method: "exact" | "drawn";
  readonly draws: number | null;
  readonly seed: number | null;
}

const MAX_EXACT = 20;
const DRAWS = 10_000;
/** Sums that differ by rounding alone are equal. */
const ROUNDING = 1e-12;

/**
 * The two-sided sign-flip test of paired differences (Fisher 1935; statistics D6): the share of all
 * ways to swap the two settings within tasks that gives a mean as far from 0 as the one seen, or
 * farther. Exact for up to 20 tasks, else from 10,000 seeded draws as `(b+1)/(B+1)` (Phipson & Smyth
 * 2010). It takes tasks as independent and, without a difference, each task's as symmetric. Without
 * differences p is 1.
 */
export function signFlipTest(differences: readonly number[], seed: number): SignFlipTest {
  const sizes = differences
    .map(Math.abs)
    .filter((size) => size > 0)
    .toSorted((a, b) => b - a);
  const seen = Math.abs(exactSum(differences)) - ROUNDING * exactSum(sizes);
  if (sizes.length <= MAX_EXACT) {
    const pValue = shareOfSigns(sizes, seen);
    return { pValue, method: "exact", draws: null, seed: null };
  }
  const draw = seededDraws(seed);
  let asFar = 0;
  for (let drawn = 0; drawn < DRAWS; drawn += 1) {
    let sum = 0;
    for (const size of sizes) sum += draw(2) === 0 ? size : -size;
    if (Math.abs(sum) >= seen) asFar += 1;
  }
  return { pValue: (asFar + 1) / (DRAWS + 1), method: "drawn", draws: DRAWS, seed };
}

/** Signs that lead to one sum are counted together: few kinds of sizes need few steps. */
function shareOfSigns(sizes: readonly number[], seen: number): number {
  let sums = new Map([[0, 1]]);
  for (const size of sizes) {
    const next = new Map<number, number>();
    for (const [sum, ways] of sums) {
      for (const one of [sum + size, sum - size]) next.set(one, (next.get(one) ?? 0) + ways);
    }
    sums = next;
  }
  let asFar = 0;
  for (const [sum, ways] of sums) if (Math.abs(sum) >= seen) asFar += ways;
  return asFar / 2 ** sizes.length;
}
