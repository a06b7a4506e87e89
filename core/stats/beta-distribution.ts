import { solveIncreasing } from "./solve-increasing.ts";

/** Below this the error of Stirling's formula is taken from its recurrence, above from its series. */
const SERIES_FROM = 16;

/**
 * The error of Stirling's formula, `ln Γ(x) - [(x - 1/2) ln x - x + ln(2π)/2]`, for x > 0: the series
 * of Bernoulli numbers (Abramowitz & Stegun 6.1.41), and below 16 the recurrence
 * `δ(x) = δ(x+1) + (x + 1/2) ln(1 + 1/x) - 1`. Ratios of gamma functions are taken through it, since
 * the difference of two large logarithms would lose their last digits.
 */
function stirlingError(x: number): number {
  let sum = 0;
  let at = x;
  for (; at < SERIES_FROM; at += 1) sum += (at + 0.5) * Math.log1p(1 / at) - 1;
  const square = 1 / (at * at);
  const series =
    1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)));
  return sum + series / at;
}

/** `x ln(x/m) + m - x` without the loss of digits near x = m (Loader 2000). */
function deviance(x: number, m: number): number {
  const part = (x - m) / (x + m);
  if (Math.abs(part) > 0.1) return x * Math.log(x / m) + m - x;
  let sum = (x - m) * part;
  let power = 2 * x * part;
  for (let odd = 3; odd < 1000; odd += 2) {
    power *= part * part;
    const next = sum + power / odd;
    if (next === sum) break;
    sum = next;
  }
  return sum;
}

/** `x^a (1-x)^b / B(a,b)`, by the saddle point of Loader 2000, "Fast and accurate computation of binomial probabilities". */
function betaKernel(a: number, b: number, x: number): number {
  const n = a + b;
  const errors = stirlingError(n) - stirlingError(a) - stirlingError(b);
  const exponent = errors - deviance(a, n * x) - deviance(b, n * (1 - x));
  return Math.sqrt((a * b) / (2 * Math.PI * n)) * Math.exp(exponent);
}

/** Its continued fraction needs some sqrt(max(a, b)) steps: enough for counts in the billions. */
const MAX_TERMS = 200_000;
const TINY = 1e-300;

/** Lentz's method never divides by nothing. */
function clear(value: number): number {
  return Math.abs(value) < TINY ? TINY : value;
}

/** The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method. */
function betaFraction(a: number, b: number, x: number): number {
  let c = 1;
  let d = 1 / clear(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < MAX_TERMS; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / clear(1 + even * d);
    c = clear(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / clear(1 + odd * d);
    c = clear(1 + odd / c);
    const factor = d * c;
    fraction *= factor;
    if (Math.abs(factor - 1) < 1e-16) return fraction;
  }
  return fraction;
}

/**
 * The distribution function of the beta distribution at x, `I_x(a, b)`, for a, b > 0 (DLMF 8.17): exact
 * to some 13 digits. Student's t and the binomial tails are values of it.
 */
export function betaCdf(a: number, b: number, x: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) {
    return 1 - (betaKernel(b, a, 1 - x) * betaFraction(b, a, 1 - x)) / b;
  }
  return (betaKernel(a, b, x) * betaFraction(a, b, x)) / a;
}

/** The x with `I_x(a, b) = p`. */
export function betaQuantile(a: number, b: number, p: number): number {
  if (p <= 0) return 0;
  if (p >= 1) return 1;
  const slope = (x: number): number => betaKernel(a, b, x) / (x * (1 - x));
  return solveIncreasing({ at: (x) => betaCdf(a, b, x), slope }, p, { low: 0, high: 1 });
}
