import type { BlockHead, BlockWriter } from "./reply-piece.ts";

/** A whole block; of a call the text is its arguments. */
export interface ReplyBlock {
  readonly head: BlockHead;
  readonly text: string;
}

/** Keeps a reply's blocks for a body that is sent as a whole. */
export class BlockCollector implements BlockWriter {
  readonly blocks: ReplyBlock[] = [];
  #open: BlockHead | null = null;
  #pieces: string[] = [];

  open(head: BlockHead): string {
    this.#open = head;
    this.#pieces = [];
    return "";
  }

  add(text: string): string {
    this.#pieces.push(text);
    return "";
  }

  close(): string {
    if (this.#open !== null) this.blocks.push({ head: this.#open, text: this.#pieces.join("") });
    this.#open = null;
    return "";
  }
}
