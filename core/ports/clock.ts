/** Time, as a port: `now` for stamps, `monotonicMs` for durations. Units: milliseconds. */
export interface Clock {
  now(): Date;
  monotonicMs(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
