import { randomUUID } from "node:crypto";
import type { AssistantPart, CallPart, Conversation, ThoughtPart, Turn } from "./conversation.ts";

/** What the provider wants back with a call, and most agents' protocols have no place for. */
export interface KeptCall {
  /** What was thought between the call before it, or the turn's beginning, and this one. */
  readonly thoughts: readonly ThoughtPart[];
  readonly seal: string | null;
}

/** Long sessions keep their last calls; older turns need no proof of their thoughts any more. */
const MAX_KEPT_CHARS = 32 * 1024 * 1024;
const ENTRY_CHARS = 128;

/**
 * The calls that a trial's model has made, by the id that the agent knows. Providers take a turn's
 * thoughts back only as they gave them, signatures included; agents of other protocols return some of
 * it, or nothing. One for each proxy.
 */
export class CallMemory {
  readonly #calls = new Map<string, KeptCall>();
  #chars = 0;

  /** The id under which the agent gets a call: the provider's, unless there is none or it is taken. */
  nameCall(id: string | null): string {
    if (id === null || id === "" || this.#calls.has(id))
      return `call_${randomUUID().replaceAll("-", "").slice(0, 24)}`;
    return id;
  }

  keep(id: string, call: KeptCall): void {
    this.#calls.set(id, call);
    this.#chars += sizeOf(id, call);
    for (const [oldId, old] of this.#calls) {
      if (this.#chars <= MAX_KEPT_CHARS) break;
      this.#calls.delete(oldId);
      this.#chars -= sizeOf(oldId, old);
    }
  }

  /** A conversation with the thoughts of its calls as the provider gave them. */
  restore(conversation: Conversation): Conversation {
    return { ...conversation, turns: conversation.turns.map((turn) => this.#restoreTurn(turn)) };
  }

  #restoreTurn(turn: Turn): Turn {
    if (turn.role !== "assistant") return turn;
    const first = turn.parts.find((part) => part.kind === "call");
    const isKnown = turn.parts.some((part) => part.kind === "call" && this.#calls.has(part.id));
    if (first === undefined || !isKnown) return turn;
    // A turn begins with its thoughts, whatever was said before its first call.
    const parts: AssistantPart[] = [...this.#thoughtsOf(first)];
    for (const part of turn.parts) {
      if (part.kind === "call" && part !== first) parts.push(...this.#thoughtsOf(part));
      if (part.kind === "text") parts.push(part);
      if (part.kind === "call")
        parts.push({ ...part, seal: this.#calls.get(part.id)?.seal ?? null });
    }
    return { role: "assistant", parts };
  }

  #thoughtsOf({ id }: CallPart): readonly ThoughtPart[] {
    return this.#calls.get(id)?.thoughts ?? [];
  }
}

function sizeOf(id: string, { thoughts, seal }: KeptCall): number {
  const sizes = thoughts.map((thought) => thought.text.length + (thought.seal?.length ?? 0));
  return sizes.reduce((sum, size) => sum + size, ENTRY_CHARS + id.length + (seal?.length ?? 0));
}
