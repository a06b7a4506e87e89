import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../core/ports/clock.ts";

interface Sleeper {
  readonly wakeMs: number;
  readonly wake: () => void;
}

/**
 * Time that passes when a test says so. `sleep` ends when `advance` reaches its moment, in order of
 * moments, and rejects with the signal's reason as the machine's clock does.
 */
export class FakeClock implements Clock {
  /** How long each sleep was asked to be, in the order in which they were. */
  readonly asked: number[] = [];
  readonly #startMs: number;
  #nowMs: number;
  #sleptMs = 0;
  readonly #sleepers = new Set<Sleeper>();

  constructor(start = "2026-11-04T18:24:21.000Z") {
    this.#startMs = Date.parse(start);
    this.#nowMs = this.#startMs;
  }

  now(): Date {
    return new Date(this.#nowMs);
  }

  monotonicMs(): number {
    return this.#nowMs - this.#startMs;
  }

  sleptMs(): number {
    return this.#sleptMs;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.asked.push(ms);
    await new Promise<void>((resolve, reject) => {
      const end = (): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener("abort", stop);
      };
      const stop = (): void => {
        end();
        reject(signal?.reason as Error);
      };
      const wake = (): void => {
        end();
        resolve();
      };
      const sleeper: Sleeper = { wakeMs: this.#nowMs + ms, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", stop);
    });
  }

  /** How many sleep now. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  /** Lets time pass, waking whoever is due; what wakes has its turn before time goes on. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const due = [...this.#sleepers].filter(({ wakeMs }) => wakeMs <= untilMs);
      const [first] = due.toSorted((a, b) => a.wakeMs - b.wakeMs);
      if (first === undefined) break;
      this.#nowMs = Math.max(this.#nowMs, first.wakeMs);
      first.wake();
      await setImmediate();
    }
    this.#nowMs = untilMs;
  }

  /** The machine sleeps: wall clock and boot time go on, nothing runs and nobody wakes. */
  suspend(ms: number): void {
    this.#sleptMs += ms;
  }
}
