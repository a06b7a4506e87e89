import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../core/ports/clock.ts";

/** The machine's clocks. `sleep` rejects with the signal's reason when it is aborted. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
};
