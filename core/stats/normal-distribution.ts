import { solveIncreasing } from "./solve-increasing.ts";

/** The standard normal's 97.5% point, as exact as a double: two-sided 95%. */
export const Z_95 = 1.959963984540054;

function density(z: number): number {
  return Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
}

/** The tail above z >= 3 by its continued fraction (DLMF 7.9.4), evaluated from far inside. */
function upperTail(z: number): number {
  let fraction = z;
  for (let k = 120; k >= 1; k -= 1) fraction = z + k / fraction;
  return density(z) / fraction;
}

/**
 * The standard normal distribution function: Marsaglia's series of positive terms near the middle
 * (2004, "Evaluating the Normal Distribution"), a continued fraction in the tails. Tails keep their
 * relative precision below the mean.
 */
export function normalCdf(z: number): number {
  if (z < -3) return upperTail(-z);
  if (z > 3) return 1 - upperTail(z);
  let term = z;
  let sum = z;
  for (let odd = 3; ; odd += 2) {
    term *= (z * z) / odd;
    const next = sum + term;
    if (next === sum) break;
    sum = next;
  }
  return 0.5 + sum * density(z);
}

/** The z with `normalCdf(z) = p`, for 0 < p < 1. */
export function normalQuantile(p: number): number {
  if (p > 0.5) return -normalQuantile(1 - p);
  return solveIncreasing({ at: normalCdf, slope: density }, p, { low: -38, high: 0 });
}
