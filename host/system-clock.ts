import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../core/ports/clock.ts";

/** The machine's clocks. `sleep` rejects with the signal's reason when it is aborted. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleptMs,
  sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
};

/** /proc/uptime goes on while the machine sleeps, the monotonic clock does not. 0 where neither is told. */
function sleptMs(): number {
  try {
    const uptimeSec = Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
    return uptimeSec * 1000 - performance.now();
  } catch {
    return 0;
  }
}
