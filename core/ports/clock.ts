/** Time, as a port: `now` for stamps, `monotonicMs` for durations. Units: milliseconds. */
export interface Clock {
  now(): Date;
  monotonicMs(): number;
  /**
   * How long the machine has slept, from an arbitrary origin: the difference of two readings is the
   * time between them in which nothing ran (attack 18).
   */
  sleptMs(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
