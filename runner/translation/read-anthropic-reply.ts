import { listOf, numberOf, recordOf, textOf } from "../../core/usage/json-view.ts";
import type { JsonRecord } from "../../core/usage/json-view.ts";
import { argumentsPiece, calledName } from "./called-tool.ts";
import type { ReplyPiece, ReplyReader, StopKind } from "./reply-piece.ts";

const STOPS: ReadonlyMap<string, StopKind> = new Map([
  ["end_turn", "turn"],
  ["pause_turn", "turn"],
  ["tool_use", "calls"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["stop_sequence", "stop-sequence"],
  ["refusal", "refusal"],
]);

/** Reads Anthropic Messages, its stream's events and its whole bodies. */
export class AnthropicReader implements ReplyReader {
  #told: StopKind | null = null;
  #isWhole = false;
  #failure: string | null = null;
  #stopSequence: string | null = null;
  /** The signature of the open thought, which may come in pieces. */
  #seal = "";

  /** A stream is whole only with its last event. */
  get stop(): StopKind | null {
    return this.#isWhole ? this.#told : null;
  }

  get stopSequence(): string | null {
    return this.#stopSequence;
  }

  get failure(): string | null {
    return this.#failure;
  }

  endMark(): void {}

  read(event: unknown): readonly ReplyPiece[] {
    const fields = recordOf(event);
    switch (fields["type"]) {
      case "message":
        this.#takeStop(fields);
        this.#isWhole = true;
        return listOf(fields["content"]).flatMap((block, index) =>
          this.#readWholeBlock(recordOf(block), index),
        );
      case "content_block_start":
        return this.#openBlock(recordOf(fields["content_block"]), numberOf(fields["index"]) ?? 0);
      case "content_block_delta":
        return this.#readDelta(recordOf(fields["delta"]), numberOf(fields["index"]) ?? 0);
      case "content_block_stop":
        return this.#closeBlock(numberOf(fields["index"]) ?? 0);
      case "message_delta":
        this.#takeStop(recordOf(fields["delta"]));
        return [];
      case "message_stop":
        this.#isWhole = true;
        return [];
      default:
        return [];
    }
  }

  #takeStop(fields: JsonRecord): void {
    const reason = textOf(fields["stop_reason"]);
    if (reason === null) return;
    this.#stopSequence = textOf(fields["stop_sequence"]);
    const stop = STOPS.get(reason);
    if (stop === undefined) this.#failure = `the provider stopped with ${reason.slice(0, 100)}`;
    else this.#told = stop;
  }

  #readWholeBlock(block: JsonRecord, index: number): ReplyPiece[] {
    const { input, ...start } = block;
    const opened = this.#openBlock(start, index);
    const called: ReplyPiece[] =
      block["type"] === "tool_use"
        ? [{ kind: "arguments", key: String(index), text: JSON.stringify(input ?? {}) }]
        : [];
    return [...opened, ...called, ...this.#closeBlock(index)];
  }

  #openBlock(block: JsonRecord, index: number): ReplyPiece[] {
    this.#seal = textOf(block["signature"]) ?? "";
    switch (block["type"]) {
      case "text":
        return [{ kind: "text", text: textOf(block["text"]) ?? "" }];
      case "thinking":
        return [{ kind: "thought", text: textOf(block["thinking"]) ?? "" }];
      case "redacted_thinking":
        return [{ kind: "seal", seal: textOf(block["data"]) ?? "", isHidden: true }];
      case "tool_use": {
        const key = String(index);
        const { id, name } = block;
        return [{ kind: "call", key, id: textOf(id), name: calledName(name), seal: null }];
      }
      default:
        this.#failure = `the reply has a block of type ${String(block["type"])}`;
        return [];
    }
  }

  #readDelta(delta: JsonRecord, index: number): ReplyPiece[] {
    switch (delta["type"]) {
      case "text_delta":
        return [{ kind: "text", text: textOf(delta["text"]) ?? "" }];
      case "thinking_delta":
        return [{ kind: "thought", text: textOf(delta["thinking"]) ?? "" }];
      case "signature_delta":
        this.#seal += textOf(delta["signature"]) ?? "";
        return [];
      case "input_json_delta": {
        const text = argumentsPiece(delta["partial_json"]);
        return [{ kind: "arguments", key: String(index), text }];
      }
      default:
        return [];
    }
  }

  #closeBlock(index: number): ReplyPiece[] {
    const seal = this.#seal;
    this.#seal = "";
    return [
      ...(seal === "" ? [] : [{ kind: "seal" as const, seal, isHidden: false }]),
      { kind: "close", key: String(index) },
    ];
  }
}
