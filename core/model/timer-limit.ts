/**
 * The longest time that a timer can be set to, in milliseconds: 24.8 days. Node.js takes a longer one
 * for 1 ms, so that a generous limit would be over at once.
 */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** A limit as a timer can hold it, in milliseconds. */
export function timerMs(limitMs: number): number {
  return Math.min(limitMs, MAX_TIMER_MS);
}
