/** A function that increases over an interval, and its derivative. */
export interface IncreasingFunction {
  readonly at: (x: number) => number;
  readonly slope: (x: number) => number;
}

const MAX_STEPS = 400;

/**
 * The x in [low, high] at which an increasing function reaches `target`: Newton's steps, and halving
 * wherever a step would leave the part that still holds the answer. It ends when no double lies in
 * between, so the answer is as exact as the function.
 */
export function solveIncreasing(
  { at, slope }: IncreasingFunction,
  target: number,
  interval: { readonly low: number; readonly high: number },
): number {
  let { low, high } = interval;
  let x = (low + high) / 2;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const excess = at(x) - target;
    if (excess === 0) return x;
    if (excess < 0) low = x;
    else high = x;
    const newton = x - excess / slope(x);
    const next = newton > low && newton < high ? newton : (low + high) / 2;
    if (next === x || next === low || next === high) return next;
    x = next;
  }
  return x;
}
