import { betaCdf, betaQuantile } from "./beta-distribution.ts";

/**
 * The t that Student's distribution with `degrees` of freedom stays below in absolute value with
 * probability `confidence` (Student 1908): 12.706 for 1 and 0.95. Through the beta distribution:
 * `P(|T| < t) = I_y(1/2, degrees/2)` with `y = t²/(degrees + t²)`.
 */
export function studentQuantile(degrees: number, confidence: number): number {
  const y = betaQuantile(0.5, degrees / 2, confidence);
  if (y < 0.5) return Math.sqrt((degrees * y) / (1 - y));
  // Near 1 the other end has the digits.
  const rest = betaQuantile(degrees / 2, 0.5, 1 - confidence);
  return Math.sqrt((degrees * (1 - rest)) / rest);
}

/** The two-sided p value of t with `degrees` of freedom. */
export function studentPValue(t: number, degrees: number): number {
  const square = t * t;
  // Through the end that is near 0, whose digits are all there.
  return square < degrees
    ? 1 - betaCdf(0.5, degrees / 2, square / (degrees + square))
    : betaCdf(degrees / 2, 0.5, degrees / (degrees + square));
}
