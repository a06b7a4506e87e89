import type { Interval } from "./interval.ts";
import { wilsonInterval } from "./wilson.ts";

/** What a pass rate of all planned trials can be, whatever the missing ones were. */
export interface UnscoredBounds {
  /** The rate if every trial without a score had failed, and if every one had passed. */
  readonly lowest: number;
  readonly highest: number;
  /** From Wilson's low end of the one to his high end of the other. */
  readonly interval: Interval;
}

/**
 * Bounds for trials without a score: `c/N` and `(c+u)/N` (Manski 1989; statistics D7). They assume
 * nothing about why trials are missing, where leaving them out assumes that they are like the others.
 * The interval takes trials as independent. Null when none was planned.
 */
export function unscoredBounds(
  passes: number,
  scored: number,
  planned: number,
): UnscoredBounds | null {
  const possible = passes + (planned - scored);
  const [worst, best] = [wilsonInterval(passes, planned), wilsonInterval(possible, planned)];
  if (worst === null || best === null) return null;
  const interval = { low: worst.low, high: best.high };
  return { lowest: passes / planned, highest: possible / planned, interval };
}
