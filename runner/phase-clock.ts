import type { Phase } from "../core/model/outcome.ts";
import type { PhaseSpan } from "../core/model/trial.ts";
import type { Clock } from "../core/ports/clock.ts";

/**
 * Attributes every moment of a trial to one phase: a span ends where the next begins, so the spans
 * add up to the total. Durations are monotonic; only the stamps read the wall clock.
 */
export class PhaseClock {
  readonly #clock: Clock;
  readonly #onPhase: (phase: Phase) => void;
  readonly #ended: PhaseSpan[] = [];
  #open: { phase: Phase; startedAt: string; startedMs: number } | null = null;

  constructor(clock: Clock, onPhase: (phase: Phase) => void) {
    this.#clock = clock;
    this.#onPhase = onPhase;
  }

  get phase(): Phase | null {
    return this.#open?.phase ?? null;
  }

  enter(phase: Phase): void {
    this.#close();
    this.#open = {
      phase,
      startedAt: this.#clock.now().toISOString(),
      startedMs: this.#clock.monotonicMs(),
    };
    this.#onPhase(phase);
  }

  /** Ends the open phase and returns all spans in order. */
  end(): readonly PhaseSpan[] {
    this.#close();
    return this.#ended;
  }

  #close(): void {
    if (this.#open === null) return;
    const { phase, startedAt, startedMs } = this.#open;
    this.#ended.push({ phase, startedAt, seconds: (this.#clock.monotonicMs() - startedMs) / 1000 });
    this.#open = null;
  }
}
