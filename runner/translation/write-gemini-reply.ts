import { sse } from "../proxy/assemble/reply-assembler.ts";
import type { AgentReplyFacts, ReplyEnd, ReplyStream } from "./agent-reply.ts";
import type { ReplyBlock } from "./block-collector.ts";
import { argumentsObject } from "./call-arguments.ts";
import type { BlockHead, StopKind } from "./reply-piece.ts";
import { toldUsage } from "./told-usage.ts";

type Fields = Readonly<Record<string, unknown>>;

const STOPS: Readonly<Record<StopKind, string>> = {
  turn: "STOP",
  calls: "STOP",
  length: "MAX_TOKENS",
  "stop-sequence": "STOP",
  refusal: "SAFETY",
};

/** A reply as Gemini's chunks; a call is told when its arguments are whole. */
export class GeminiStream implements ReplyStream {
  readonly #facts: AgentReplyFacts;
  #head: BlockHead = { kind: "text" };
  #arguments: string[] = [];
  #isFirst = true;

  constructor(facts: AgentReplyFacts) {
    this.#facts = facts;
  }

  begin(): string {
    return "";
  }

  open(head: BlockHead): string {
    this.#head = head;
    this.#arguments = [];
    return "";
  }

  add(text: string): string {
    if (this.#head.kind !== "call") return this.#chunk([partOf({ head: this.#head, text })]);
    this.#arguments.push(text);
    return "";
  }

  close(): string {
    if (this.#head.kind !== "call") return "";
    return this.#chunk([partOf({ head: this.#head, text: this.#arguments.join("") })]);
  }

  end(end: ReplyEnd): string {
    const { asEvents } = this.#facts;
    return this.#framed(wholeChunk(this.#facts, [{ text: "" }], end)) + (asEvents ? "" : "]");
  }

  #chunk(parts: readonly Fields[]): string {
    return this.#framed(wholeChunk(this.#facts, parts, null));
  }

  /** Without `alt=sse` a stream is one JSON array of its chunks. */
  #framed(chunk: Fields): string {
    if (this.#facts.asEvents) return sse(null, chunk);
    const before = this.#isFirst ? "[" : ",\n";
    this.#isFirst = false;
    return before + JSON.stringify(chunk);
  }
}

export function wholeGemini(
  facts: AgentReplyFacts,
  { blocks, end }: { readonly blocks: readonly ReplyBlock[]; readonly end: ReplyEnd },
): Fields {
  return wholeChunk(facts, blocks.map(partOf), end);
}

function wholeChunk(
  { model, id }: AgentReplyFacts,
  parts: readonly Fields[],
  end: ReplyEnd | null,
): Fields {
  const usage = end === null ? null : toldUsage("gemini", end.reading);
  const finish = end === null ? {} : { finishReason: STOPS[end.stop] };
  return {
    candidates: [{ content: { role: "model", parts }, index: 0, ...finish }],
    ...(usage === null ? {} : { usageMetadata: usage }),
    modelVersion: model,
    responseId: id,
  };
}

function partOf({ head, text }: ReplyBlock): Fields {
  switch (head.kind) {
    case "text":
      return { text };
    case "thought":
      return { text, thought: true };
    case "call":
      return { functionCall: { id: head.id, name: head.name, args: argumentsObject(text) } };
  }
}
