/** How long an agent may go on beyond its idle limit while a tool of its own runs (spec 10.4). */
const TOOL_GRACE = 3;

/** What is known at one moment, in milliseconds of one monotonic clock. */
export interface TurnMoment {
  readonly nowMs: number;
  /** How long the models have been held back so far, in all (attack 7). */
  readonly heldMs: number;
}

export interface TurnTimes {
  readonly idleMs: number;
  readonly elapsedMs: number;
}

export interface TurnLimitSettings {
  readonly wallMs: number;
  /** 0 for none. */
  readonly idleMs: number;
}

/**
 * The two limits of one prompt (spec 2.5, 10.4): a wall clock that nothing moves, and an idle limit
 * that starts anew with every sign of life. Both stand still while a model request is held back by
 * us or for the provider's sake, because that time is not the agent's.
 */
export class TurnLimits {
  readonly #settings: TurnLimitSettings;
  readonly #started: TurnMoment;
  #active: TurnMoment;

  constructor(settings: TurnLimitSettings, started: TurnMoment) {
    this.#settings = settings;
    this.#started = started;
    this.#active = started;
  }

  noteActivity(moment: TurnMoment): void {
    this.#active = moment;
  }

  /** The limit that has been reached; null while none is. A pending tool call is activity, for a while. */
  reached(moment: TurnMoment, hasPendingTool: boolean): "wall-clock" | "idle" | null {
    const { wallMs, idleMs } = this.#settings;
    if (ownMs(this.#started, moment) >= wallMs) return "wall-clock";
    const graceMs = hasPendingTool ? idleMs * TOOL_GRACE : idleMs;
    return idleMs > 0 && ownMs(this.#active, moment) >= graceMs ? "idle" : null;
  }

  /** How long the agent has been silent, and at work, without the time that was held back. */
  times(moment: TurnMoment): TurnTimes {
    return { idleMs: ownMs(this.#active, moment), elapsedMs: ownMs(this.#started, moment) };
  }

  /** How often to look: often enough to end near the limit, seldom enough to cost nothing. */
  get pollMs(): number {
    const { wallMs, idleMs } = this.#settings;
    const shortest = idleMs > 0 ? Math.min(idleMs, wallMs) : wallMs;
    return Math.max(50, Math.min(1000, shortest / 20));
  }
}

function ownMs(from: TurnMoment, to: TurnMoment): number {
  return to.nowMs - from.nowMs - (to.heldMs - from.heldMs);
}
