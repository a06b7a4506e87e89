/** Why the model stopped, in no protocol's own words. */
export type StopKind = "turn" | "calls" | "length" | "stop-sequence" | "refusal";

/** A piece of a reply as it comes; a call is known by its key until it is closed. */
export type ReplyPiece =
  | { readonly kind: "thought"; readonly text: string }
  /** Ends the thought before it with its proof; a hidden one is nothing but its proof. */
  | { readonly kind: "seal"; readonly seal: string; readonly isHidden: boolean }
  | { readonly kind: "text"; readonly text: string }
  | {
      readonly kind: "call";
      readonly key: string;
      readonly id: string | null;
      readonly name: string;
      readonly seal: string | null;
    }
  | { readonly kind: "arguments"; readonly key: string; readonly text: string }
  /** Nothing more comes for a call, or for the text that is open. */
  | { readonly kind: "close"; readonly key: string };

/** A piece as the agent gets it: what only the provider can read is kept, and every call has an id. */
export type ToldPiece =
  | Exclude<ReplyPiece, { kind: "seal" | "call" }>
  | (Extract<ReplyPiece, { kind: "call" }> & { readonly id: string });

/** Reads a provider's reply, event by event; a whole body is one event. */
export interface ReplyReader {
  /** Throws `TranslationError` for a call that cannot be understood. */
  read(event: unknown): readonly ReplyPiece[];
  /** The stream's own mark of its end, where it has one. */
  endMark(): void;
  /** Why it stopped; null while nothing has said so, and then the reply is not whole. */
  readonly stop: StopKind | null;
  readonly stopSequence: string | null;
  /** What makes the reply none that can be told on; null while there is nothing. */
  readonly failure: string | null;
}

/** A block of a reply on its way to the agent; only one is open at a time. */
export type BlockHead =
  | { readonly kind: "thought" }
  | { readonly kind: "text" }
  | { readonly kind: "call"; readonly id: string; readonly name: string };

/** Writes a reply for the agent: each call gives the bytes that it adds to the stream. */
export interface BlockWriter {
  open(head: BlockHead): string;
  add(text: string): string;
  close(): string;
}
