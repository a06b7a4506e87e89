import { listOf, numberOf, recordOf, textOf } from "../../core/usage/json-view.ts";
import type { JsonRecord } from "../../core/usage/json-view.ts";
import { argumentsPiece, calledName } from "./called-tool.ts";
import type { ReplyPiece, ReplyReader, StopKind } from "./reply-piece.ts";

const STOPS: ReadonlyMap<string, StopKind> = new Map([
  ["stop", "turn"],
  ["eos", "turn"],
  ["end_turn", "turn"],
  ["tool_calls", "calls"],
  ["function_call", "calls"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["content_filter", "refusal"],
]);

/** More than any provider gives; a bound on what a hostile stream can make us keep. */
const MAX_CALLS = 1024;

/** Reads OpenAI Chat Completions, chunks and whole bodies, as its many servers write them. */
export class CompletionsReader implements ReplyReader {
  #stop: StopKind | null = null;
  #failure: string | null = null;
  /** Key of the call that a chunk's index stands for at present. */
  readonly #keys = new Map<number, { readonly key: string; readonly id: string }>();
  #calls = 0;
  #lastIndex = 0;
  readonly stopSequence = null;

  get stop(): StopKind | null {
    return this.#stop;
  }

  get failure(): string | null {
    return this.#failure;
  }

  read(event: unknown): readonly ReplyPiece[] {
    const choices = listOf(recordOf(event)["choices"]).map(recordOf);
    const choice = choices.find(({ index }) => (numberOf(index) ?? 0) === 0);
    if (choice === undefined) return [];
    const pieces = this.#readDelta(recordOf(choice["delta"] ?? choice["message"]));
    const reason = textOf(choice["finish_reason"]);
    if (reason !== null && reason !== "") this.#takeStop(reason);
    return pieces;
  }

  endMark(): void {
    this.#stop ??= "turn";
  }

  #takeStop(reason: string): void {
    const stop = STOPS.get(reason.toLowerCase());
    if (stop === undefined) this.#failure = `the provider stopped with ${reason.slice(0, 100)}`;
    else this.#stop = stop;
  }

  #readDelta(delta: JsonRecord): ReplyPiece[] {
    const thought = textOf(delta["reasoning_content"]) ?? textOf(delta["reasoning"]);
    return [
      ...(thought === null ? [] : [{ kind: "thought" as const, text: thought }]),
      ...contentPieces(delta["content"]),
      ...contentPieces(delta["refusal"]),
      ...listOf(delta["tool_calls"]).flatMap((call) => this.#readCall(recordOf(call))),
    ];
  }

  /**
   * Chunks of one call share an index. Some servers send none, or the same one for several calls: then
   * another id begins another call.
   */
  #readCall(call: JsonRecord): ReplyPiece[] {
    const named = recordOf(call["function"]);
    const id = textOf(call["id"]) ?? "";
    const index = numberOf(call["index"]) ?? this.#indexOf(id);
    this.#lastIndex = index;
    const text = argumentsPiece(named["arguments"]);
    const known = this.#keys.get(index);
    const isNew = known === undefined || (id !== "" && known.id !== "" && id !== known.id);
    if (!isNew) return argumentPieces(known.key, text);
    this.#calls += 1;
    if (this.#calls > MAX_CALLS) {
      this.#failure = `more than ${String(MAX_CALLS)} tool calls in one reply`;
      return [];
    }
    const key = String(this.#calls);
    this.#keys.set(index, { key, id });
    const name = calledName(named["name"]);
    return [
      { kind: "call", key, id: id === "" ? null : id, name, seal: null },
      ...argumentPieces(key, text),
    ];
  }

  #indexOf(id: string): number {
    const found = [...this.#keys].find(([, known]) => known.id === id);
    if (id === "") return this.#lastIndex;
    return found?.[0] ?? this.#keys.size;
  }
}

function argumentPieces(key: string, text: string): ReplyPiece[] {
  return text === "" ? [] : [{ kind: "arguments", key, text }];
}

/** Text, or a list of parts, as Mistral's reasoning models send it. */
function contentPieces(content: unknown): ReplyPiece[] {
  if (typeof content === "string") return [{ kind: "text", text: content }];
  return listOf(content).flatMap((entry): ReplyPiece[] => {
    const part = recordOf(entry);
    const text = textOf(part["text"]);
    if (text !== null) return [{ kind: "text", text }];
    const inner = listOf(part["thinking"]).flatMap((each) => textOf(recordOf(each)["text"]) ?? []);
    return inner.map((thought) => ({ kind: "thought", text: thought }));
  });
}
