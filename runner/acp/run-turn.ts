import * as z from "zod";
import {
  TurnLimits,
  type TurnLimitSettings,
  type TurnMoment,
  type TurnTimes,
} from "../../core/acp/turn-limits.ts";
import type { AcpConnection } from "./acp-connection.ts";
import type { AgentProcess } from "./agent-process.ts";
import type { SessionRecorder } from "./session-recorder.ts";

/** How a turn came to its end, as seen from outside of the agent. */
export type TurnEnd =
  /** The agent answered. What it says of its success proves nothing. */
  | { readonly kind: "answered"; readonly stopReason: string }
  /** The agent answered with an error, or its connection broke. */
  | { readonly kind: "failed"; readonly thrown: unknown }
  | {
      readonly kind: "limit";
      readonly limit: "wall-clock" | "idle";
      /** Tool calls that were running then. */
      readonly pending: readonly string[];
    }
  | { readonly kind: "models-gone"; readonly message: string }
  | { readonly kind: "stopped" };

export interface TurnParts {
  readonly connection: AcpConnection;
  readonly process: AgentProcess;
  readonly recorder: Pick<SessionRecorder, "pendingToolCalls">;
  readonly limits: TurnLimitSettings;
  readonly moment: () => TurnMoment;
  /** Why the models serve nothing any more; null while they do. */
  readonly modelsGone: () => { readonly message: string } | null;
  /** Called before an agent is cancelled, so that it spends nothing while it ends. */
  readonly beforeCancel: () => void;
  /** Between `session/cancel` and the end of the agent's input. */
  readonly cancelGraceMs: number;
  readonly signal: AbortSignal;
}

const PromptAnswer = z.looseObject({ stopReason: z.string().catch("") });

/** One prompt after another and their watch: the wall clock runs from the first to the last. */
export class Turn {
  readonly #parts: TurnParts;
  readonly #limits: TurnLimits;
  /** When a limit ended it; null while none has. */
  timesAtLimit: TurnTimes | null = null;

  constructor(parts: TurnParts) {
    this.#parts = parts;
    this.#limits = new TurnLimits(parts.limits, parts.moment());
  }

  /** A sign of life: the idle limit starts anew. */
  noteActivity(): void {
    this.#limits.noteActivity(this.#parts.moment());
  }

  /**
   * Sends the prompt and waits for its end: the agent's answer, a limit, models that serve no more, or
   * the trial's stop. Every end but an answer cancels the turn and gives the agent a moment to say so.
   */
  async run(sessionId: string, text: string): Promise<TurnEnd> {
    const { connection, process, beforeCancel, cancelGraceMs } = this.#parts;
    this.noteActivity();
    const prompt = [{ type: "text", text }];
    const answer = endOf(connection.request("session/prompt", { sessionId, prompt }));
    const end = await this.#watch(answer);
    if (end.kind === "answered" || end.kind === "failed") return end;
    beforeCancel();
    const cancelled = connection.notify("session/cancel", { sessionId });
    await process.within(cancelGraceMs, Promise.all([cancelled, answer]));
    return end;
  }

  async #watch(answer: Promise<TurnEnd>): Promise<TurnEnd> {
    const watching = new AbortController();
    const { signal } = this.#parts;
    const watched = new Promise<TurnEnd>((resolve) => {
      const look = (): void => {
        const end = this.#look();
        if (end !== null) resolve(end);
      };
      const timer = setInterval(look, this.#limits.pollMs);
      watching.signal.addEventListener("abort", () => clearInterval(timer));
      signal.addEventListener("abort", look, { signal: watching.signal });
      look();
    });
    try {
      return await Promise.race([answer, watched]);
    } finally {
      watching.abort();
    }
  }

  #look(): TurnEnd | null {
    const { signal, modelsGone, recorder, moment } = this.#parts;
    if (signal.aborted) return { kind: "stopped" };
    const gone = modelsGone();
    if (gone !== null) return { kind: "models-gone", message: gone.message };
    const pending = recorder.pendingToolCalls();
    const now = moment();
    const limit = this.#limits.reached(now, pending.length > 0);
    if (limit === null) return null;
    this.timesAtLimit ??= this.#limits.times(now);
    return { kind: "limit", limit, pending };
  }
}

async function endOf(request: Promise<unknown>): Promise<TurnEnd> {
  try {
    const answer = PromptAnswer.safeParse(await request);
    return { kind: "answered", stopReason: answer.success ? answer.data.stopReason : "" };
  } catch (thrown) {
    return { kind: "failed", thrown };
  }
}
