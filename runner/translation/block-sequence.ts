import type { BlockHead, BlockWriter, ToldPiece } from "./reply-piece.ts";

interface HeldBlock {
  readonly head: BlockHead;
  readonly key: string | null;
  readonly pieces: string[];
  /** Nothing more comes for it. */
  isDone: boolean;
}

/** What a held block costs beside its text. */
const ENTRY_CHARS = 64;

/** Thrown when a stream holds back more than fits. */
export class HeldTooLong extends Error {}

/**
 * One block after the other, out of a stream that may mix the arguments of several calls: the first call
 * goes on as it comes, everything that begins while it is open waits until it is closed or the stream
 * ends. Agents of Messages take no two open blocks (docs/proxy.md).
 */
export class BlockSequence {
  readonly #writer: BlockWriter;
  readonly #maxHeldChars: number;
  #open: { readonly head: BlockHead; readonly key: string | null } | null = null;
  #openChars = 0;
  readonly #held: HeldBlock[] = [];
  #heldChars = 0;
  hasCalls = false;

  constructor(writer: BlockWriter, maxHeldChars: number) {
    this.#writer = writer;
    this.#maxHeldChars = maxHeldChars;
  }

  take(piece: ToldPiece): string {
    switch (piece.kind) {
      case "thought":
      case "text":
        return this.#takeText(piece.kind, piece.text);
      case "call": {
        this.hasCalls = true;
        const head = { kind: "call" as const, id: piece.id, name: piece.name };
        return this.#begin(head, piece.key);
      }
      case "arguments":
        return this.#takeArguments(piece.key, piece.text);
      case "close":
        return this.#end(piece.key);
    }
  }

  /** Closes what is open, then tells all that waited. */
  flush(): string {
    let text = this.#close();
    while (this.#held.length > 0) text += this.#tellHeld() + this.#close();
    return text;
  }

  /** Closes a block, then tells what waited for that, up to the next call that still goes on. */
  #end(key: string): string {
    const isOpen =
      this.#open !== null && (this.#open.head.kind !== "call" || this.#open.key === key);
    if (!isOpen) {
      const held = this.#held.find((block) => block.key === key);
      if (held !== undefined) held.isDone = true;
      return "";
    }
    let text = this.#close();
    while (this.#held.length > 0) {
      const goesOn = this.#held[0]?.head.kind === "call" && !this.#held[0].isDone;
      text += this.#tellHeld();
      if (goesOn) break;
      text += this.#close();
    }
    return text;
  }

  #tellHeld(): string {
    const block = this.#held.shift();
    if (block === undefined) return "";
    const said = block.pieces.join("");
    this.#heldChars -= said.length + ENTRY_CHARS;
    return this.#start(block.head, block.key) + this.#add(said);
  }

  #takeText(kind: "thought" | "text", text: string): string {
    if (text === "") return "";
    if (this.#open?.head.kind === "call") {
      const last = this.#held.at(-1);
      if (last?.head.kind === kind) this.#hold(last, text);
      else this.#hold(this.#holdNew({ kind }, null), text);
      return "";
    }
    const opened = this.#open?.head.kind === kind ? "" : this.#begin({ kind }, null);
    return opened + this.#add(text);
  }

  #begin(head: BlockHead, key: string | null): string {
    if (this.#open?.head.kind === "call") {
      this.#holdNew(head, key);
      return "";
    }
    return this.#close() + this.#start(head, key);
  }

  #takeArguments(key: string, text: string): string {
    if (this.#open?.key === key) return this.#add(text);
    const held = this.#held.find((block) => block.key === key);
    if (held !== undefined) this.#hold(held, text);
    return "";
  }

  #start(head: BlockHead, key: string | null): string {
    this.#open = { head, key };
    this.#openChars = 0;
    return this.#writer.open(head);
  }

  #add(text: string): string {
    this.#openChars += text.length;
    return text === "" ? "" : this.#writer.add(text);
  }

  #close(): string {
    if (this.#open === null) return "";
    // A call without arguments has none, which is an object in every protocol.
    const isBare = this.#open.head.kind === "call" && this.#openChars === 0;
    const text = isBare ? this.#add("{}") : "";
    this.#open = null;
    return text + this.#writer.close();
  }

  #holdNew(head: BlockHead, key: string | null): HeldBlock {
    const block: HeldBlock = { head, key, pieces: [], isDone: false };
    this.#held.push(block);
    this.#pay(ENTRY_CHARS);
    return block;
  }

  #hold(block: HeldBlock, text: string): void {
    this.#pay(text.length);
    block.pieces.push(text);
  }

  #pay(chars: number): void {
    this.#heldChars += chars;
    if (this.#heldChars > this.#maxHeldChars)
      throw new HeldTooLong("the arguments of parallel calls are longer than can be held");
  }
}
