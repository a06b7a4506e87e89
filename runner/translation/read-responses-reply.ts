import { isRecord, listOf, numberOf, recordOf, textOf } from "../../core/usage/json-view.ts";
import type { JsonRecord } from "../../core/usage/json-view.ts";
import { argumentsPiece, calledName } from "./called-tool.ts";
import type { ReplyPiece, ReplyReader, StopKind } from "./reply-piece.ts";

const TEXT_DELTAS = new Set(["response.output_text.delta", "response.refusal.delta"]);
const THOUGHT_DELTAS = new Set([
  "response.reasoning_summary_text.delta",
  "response.reasoning_text.delta",
]);

/** Reads OpenAI Responses, its stream's events and its whole bodies. */
export class ResponsesReader implements ReplyReader {
  #stop: StopKind | null = null;
  #failure: string | null = null;
  /** Calls whose arguments have come in pieces. */
  readonly #told = new Set<string>();
  readonly stopSequence = null;

  get stop(): StopKind | null {
    return this.#stop;
  }

  get failure(): string | null {
    return this.#failure;
  }

  endMark(): void {}

  read(event: unknown): readonly ReplyPiece[] {
    const fields = recordOf(event);
    if (fields["object"] === "response") {
      this.#end(fields);
      return listOf(fields["output"]).flatMap((item, index) =>
        this.#readWhole(recordOf(item), String(index)),
      );
    }
    const type = textOf(fields["type"]) ?? "";
    const key = String(numberOf(fields["output_index"]) ?? 0);
    const text = textOf(fields["delta"]) ?? "";
    if (TEXT_DELTAS.has(type)) return [{ kind: "text", text }];
    if (THOUGHT_DELTAS.has(type)) return [{ kind: "thought", text }];
    switch (type) {
      case "response.output_item.added":
        return this.#open(recordOf(fields["item"]), key);
      case "response.function_call_arguments.delta":
        this.#told.add(key);
        return [{ kind: "arguments", key, text: argumentsPiece(fields["delta"]) }];
      case "response.reasoning_summary_part.added":
        // Between two parts of one thought.
        return fields["summary_index"] === 0 ? [] : [{ kind: "thought", text: "\n\n" }];
      case "response.output_item.done":
        return this.#close(recordOf(fields["item"]), key);
      case "response.completed":
      case "response.incomplete":
        this.#end(recordOf(fields["response"]));
        return [];
      default:
        return [];
    }
  }

  #readWhole(item: JsonRecord, key: string): ReplyPiece[] {
    return [...this.#open(item, key), ...wholeText(item), ...this.#close(item, key)];
  }

  #open(item: JsonRecord, key: string): ReplyPiece[] {
    switch (item["type"]) {
      case "message":
      case "reasoning":
        return [];
      case "function_call": {
        const name = calledName(item["name"]);
        return [{ kind: "call", key, id: textOf(item["call_id"]), name, seal: null }];
      }
      default:
        this.#failure = `the reply has an item of type ${String(item["type"]).slice(0, 100)}`;
        return [];
    }
  }

  /** A thought goes back as the whole item that it was. */
  #close(item: JsonRecord, key: string): ReplyPiece[] {
    const close: ReplyPiece = { kind: "close", key };
    if (item["type"] === "function_call" && !this.#told.has(key))
      return [{ kind: "arguments", key, text: argumentsPiece(item["arguments"]) }, close];
    if (item["type"] === "reasoning" && typeof item["encrypted_content"] === "string")
      return [{ kind: "seal", seal: JSON.stringify(item), isHidden: false }, close];
    return [close];
  }

  #end(response: JsonRecord): void {
    const { status } = response;
    if (status === "completed") this.#stop = "turn";
    else if (status === "incomplete") {
      const reason = recordOf(response["incomplete_details"])["reason"];
      this.#stop = reason === "content_filter" ? "refusal" : "length";
    } else if (!isRecord(response["error"]))
      this.#failure = `the provider stopped with ${String(status).slice(0, 100)}`;
  }
}

/** The words of a whole item. */
function wholeText(item: JsonRecord): ReplyPiece[] {
  const isThought = item["type"] === "reasoning";
  const parts = isThought
    ? [...listOf(item["summary"]), ...listOf(item["content"])]
    : listOf(item["content"]);
  const texts = parts.flatMap((part) => {
    const { text, refusal } = recordOf(part);
    return textOf(text) ?? textOf(refusal) ?? [];
  });
  if (isThought) return texts.length === 0 ? [] : [{ kind: "thought", text: texts.join("\n\n") }];
  return texts.map((text) => ({ kind: "text", text }));
}
