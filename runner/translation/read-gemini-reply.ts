import { isRecord, listOf, numberOf, recordOf, textOf } from "../../core/usage/json-view.ts";
import type { JsonRecord } from "../../core/usage/json-view.ts";
import { calledName } from "./called-tool.ts";
import type { ReplyPiece, ReplyReader, StopKind } from "./reply-piece.ts";

const STOPS: ReadonlyMap<string, StopKind> = new Map([
  ["STOP", "turn"],
  ["MAX_TOKENS", "length"],
  ["SAFETY", "refusal"],
  ["RECITATION", "refusal"],
  ["BLOCKLIST", "refusal"],
  ["PROHIBITED_CONTENT", "refusal"],
  ["SPII", "refusal"],
]);

/** Reads Gemini's chunks and whole bodies. Calls come whole, with their signature. */
export class GeminiReader implements ReplyReader {
  #stop: StopKind | null = null;
  #failure: string | null = null;
  #calls = 0;
  readonly stopSequence = null;

  get stop(): StopKind | null {
    return this.#stop;
  }

  get failure(): string | null {
    return this.#failure;
  }

  endMark(): void {}

  read(event: unknown): readonly ReplyPiece[] {
    // Without `alt=sse` a stream is one JSON array of chunks.
    const chunks = Array.isArray(event) ? event : [event];
    return chunks.flatMap((chunk) => this.#readChunk(recordOf(chunk)));
  }

  #readChunk(chunk: JsonRecord): ReplyPiece[] {
    if (textOf(recordOf(chunk["promptFeedback"])["blockReason"]) !== null) this.#stop ??= "refusal";
    const candidates = listOf(chunk["candidates"]).map(recordOf);
    const candidate = candidates.find(({ index }) => (numberOf(index) ?? 0) === 0);
    if (candidate === undefined) return [];
    const reason = textOf(candidate["finishReason"]);
    if (reason !== null) this.#takeStop(reason);
    const parts = listOf(recordOf(candidate["content"])["parts"]);
    return parts.flatMap((part) => this.#readPart(recordOf(part)));
  }

  #takeStop(reason: string): void {
    const stop = STOPS.get(reason);
    if (stop === undefined) this.#failure = `the provider stopped with ${reason.slice(0, 100)}`;
    else this.#stop = stop;
  }

  #readPart(part: JsonRecord): ReplyPiece[] {
    const text = textOf(part["text"]);
    if (text !== null) return [{ kind: part["thought"] === true ? "thought" : "text", text }];
    if (isRecord(part["functionCall"])) return this.#readCall(part, part["functionCall"]);
    if (Object.keys(part).every((name) => name === "thoughtSignature")) return [];
    this.#failure = `the reply has a part with ${Object.keys(part).join(", ").slice(0, 100)}`;
    return [];
  }

  #readCall(part: JsonRecord, call: JsonRecord): ReplyPiece[] {
    this.#calls += 1;
    const key = String(this.#calls);
    return [
      {
        kind: "call",
        key,
        id: textOf(call["id"]),
        name: calledName(call["name"]),
        seal: textOf(part["thoughtSignature"]),
      },
      { kind: "arguments", key, text: JSON.stringify(call["args"] ?? {}) },
      { kind: "close", key },
    ];
  }
}
