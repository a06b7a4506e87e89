import type { CallMemory } from "./call-memory.ts";
import type { ThoughtPart } from "./conversation.ts";
import type { ReplyPiece, ToldPiece } from "./reply-piece.ts";

/** Keeps the thoughts before each call of one reply, as the provider wants them back with it. */
export class ThoughtKeeper {
  readonly #memory: CallMemory;
  #open: string[] = [];
  #thoughts: ThoughtPart[] = [];

  constructor(memory: CallMemory) {
    this.#memory = memory;
  }

  /** The piece as the agent gets it; null for what only the provider can read. */
  take(piece: ReplyPiece): ToldPiece | null {
    switch (piece.kind) {
      case "thought":
        this.#open.push(piece.text);
        return piece;
      case "seal":
        this.#end(piece.seal, piece.isHidden);
        return null;
      case "call": {
        if (this.#open.length > 0) this.#end(null, false);
        const id = this.#memory.nameCall(piece.id);
        this.#memory.keep(id, { thoughts: this.#thoughts, seal: piece.seal });
        this.#thoughts = [];
        return { ...piece, id };
      }
      case "text":
      case "arguments":
      case "close":
        return piece;
    }
  }

  #end(seal: string | null, isHidden: boolean): void {
    const text = isHidden ? "" : this.#open.join("");
    if (!isHidden) this.#open = [];
    this.#thoughts.push({ kind: "thought", text, seal, isHidden });
  }
}
