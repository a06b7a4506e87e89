/** Why a call was ended by us. `given-up`: its agent went away from a provider that had long been silent. */
export type CallStopKind =
  | "first-byte"
  | "idle"
  | "total"
  | "gone"
  | "given-up"
  | "stopped"
  | "capped";

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
  /** See `ProxyLimits`. */
  readonly giveUpMs: number;
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
  /** Since when the provider has said nothing; null while nothing is awaited of it. */
  #silentSince: number | null = null;

  constructor(limits: GuardLimits) {
    this.#limits = limits;
    this.#total = setTimeout(() => this.stop("total"), limits.totalMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(kind: CallStopKind): void {
    const why = kind === "gone" && this.#isLongSilent() ? "given-up" : kind;
    this.end();
    this.#controller.abort(new CallStop(why));
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
    this.#silentSince = null;
  }

  end(): void {
    this.pause();
    clearTimeout(this.#total);
  }

  #wait(kind: CallStopKind, ms: number): void {
    this.pause();
    if (this.signal.aborted) return;
    this.#waiting = setTimeout(() => this.stop(kind), ms);
    this.#silentSince = performance.now();
  }

  #isLongSilent(): boolean {
    if (this.#silentSince === null) return false;
    return performance.now() - this.#silentSince >= this.#limits.giveUpMs;
  }
}
