import { cpus, loadavg } from "node:os";
import type { Timing } from "./proxy-load.ts";

export interface Percentiles {
  readonly requests: number;
  readonly firstByteP50Ms: number;
  readonly firstByteP99Ms: number;
  readonly totalP50Ms: number;
  readonly totalP99Ms: number;
  /** Requests that got no whole answer. */
  readonly lost: number;
}

export function percentiles(timings: readonly Timing[]): Percentiles {
  const whole = timings.filter(({ failure }) => failure === null);
  const first = whole.map(({ firstByteMs }) => firstByteMs).toSorted((a, b) => a - b);
  const total = whole.map(({ totalMs }) => totalMs).toSorted((a, b) => a - b);
  return {
    requests: timings.length,
    firstByteP50Ms: rounded(at(first, 0.5)),
    firstByteP99Ms: rounded(at(first, 0.99)),
    totalP50Ms: rounded(at(total, 0.5)),
    totalP99Ms: rounded(at(total, 0.99)),
    lost: timings.length - whole.length,
  };
}

/** What a proxy adds to the direct call of the same rounds. */
export function added(direct: Percentiles, proxied: Percentiles): Record<string, number> {
  return {
    addedP50Ms: rounded(proxied.totalP50Ms - direct.totalP50Ms),
    addedP99Ms: rounded(proxied.totalP99Ms - direct.totalP99Ms),
    p99Ratio: rounded(proxied.totalP99Ms / direct.totalP99Ms),
  };
}

/** When and where; a load above the number of cores says that the times are other work's too. */
export function about(): Record<string, unknown> {
  return {
    bench: "proxy",
    command: "npm run bench:proxy",
    measured_at: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} cores, Node.js ${process.version}`,
    load: rounded(loadavg()[0] ?? 0),
  };
}

export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

export function median(values: readonly number[]): number {
  return at(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
