/** Why a call was ended by us. */
export type CallStopKind = "first-byte" | "idle" | "total" | "gone" | "stopped" | "capped";

export class CallStop extends Error {
  override readonly name = "CallStop";
  readonly kind: CallStopKind;

  constructor(kind: CallStopKind) {
    super(`call ended: ${kind}`);
    this.kind = kind;
  }
}

export interface GuardLimits {
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
}

/**
 * The time limits of one call, and its one switch. Agents have limits of their own that miss the waits
 * that matter (notes/agents 6), so the proxy owns them. Aborted with a `CallStop`.
 */
export class CallGuard {
  readonly #limits: GuardLimits;
  readonly #controller = new AbortController();
  readonly #total: NodeJS.Timeout;
  #waiting: NodeJS.Timeout | null = null;

  constructor(limits: GuardLimits) {
    this.#limits = limits;
    this.#total = setTimeout(() => this.stop("total"), limits.totalMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(kind: CallStopKind): void {
    this.end();
    this.#controller.abort(new CallStop(kind));
  }

  /** A request is on its way: its first byte is awaited. */
  awaitFirstByte(): void {
    this.#wait("first-byte", this.#limits.firstByteMs);
  }

  /** Bytes came: the next ones are awaited. */
  awaitMore(): void {
    this.#wait("idle", this.#limits.idleMs);
  }

  /** Nothing is awaited of the provider: the agent reads slowly, or the call is held. */
  pause(): void {
    if (this.#waiting !== null) clearTimeout(this.#waiting);
    this.#waiting = null;
  }

  end(): void {
    this.pause();
    clearTimeout(this.#total);
  }

  #wait(kind: CallStopKind, ms: number): void {
    this.pause();
    if (!this.signal.aborted) this.#waiting = setTimeout(() => this.stop(kind), ms);
  }
}
