/**
 * How long requests were held back by us, as wall time: two held at once count once. The clocks that
 * limit the agent stand still for as long (attack 7).
 */
export class HeldTime {
  readonly #monotonicMs: () => number;
  #held = 0;
  #since = 0;
  #totalMs = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Up to now, what is still held included. */
  get totalMs(): number {
    return this.#totalMs + (this.#held > 0 ? this.#monotonicMs() - this.#since : 0);
  }

  /** Counts as long as `work` takes; resolves with its result and its time. */
  async during<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly heldMs: number }> {
    const start = this.#monotonicMs();
    if (this.#held === 0) this.#since = start;
    this.#held += 1;
    try {
      const value = await work();
      return { value, heldMs: this.#monotonicMs() - start };
    } finally {
      this.#held -= 1;
      if (this.#held === 0) this.#totalMs += this.#monotonicMs() - this.#since;
    }
  }
}
