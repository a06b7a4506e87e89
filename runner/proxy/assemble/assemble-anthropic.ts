import { numberOf, parseJson, recordOf, textOf } from "../../../core/usage/json-view.ts";
import type { JsonRecord } from "../../../core/usage/json-view.ts";
import { KeptText } from "./kept-text.ts";
import type { KeepBudget } from "./kept-text.ts";
import { sse } from "./reply-assembler.ts";
import type { ReplyAssembler } from "./reply-assembler.ts";

interface Block {
  readonly start: JsonRecord;
  /** The texts that its deltas add, by the field that they belong to. */
  readonly texts: Map<string, KeptText>;
}

/** The delta's own field, and the field of the block that it adds to. */
const DELTAS: ReadonlyMap<string, readonly [string, string]> = new Map([
  ["text_delta", ["text", "text"]],
  ["thinking_delta", ["thinking", "thinking"]],
  ["signature_delta", ["signature", "signature"]],
  ["input_json_delta", ["partial_json", "input"]],
]);

export class AnthropicAssembler implements ReplyAssembler {
  readonly #budget: KeepBudget;
  readonly #blocks = new Map<number, Block>();
  #message: JsonRecord = {};
  #ending: JsonRecord = {};
  #usage: JsonRecord = {};
  #openIndex: number | null = null;
  #whole: JsonRecord | null = null;
  visibleChars = 0;

  constructor(budget: KeepBudget) {
    this.#budget = budget;
  }

  read(event: unknown): void {
    const fields = recordOf(event);
    const index = numberOf(fields["index"]) ?? 0;
    switch (fields["type"]) {
      case "message":
        this.#whole = fields;
        this.visibleChars = JSON.stringify(fields["content"] ?? "").length;
        break;
      case "message_start":
        this.#message = recordOf(fields["message"]);
        break;
      case "content_block_start":
        this.#openBlock(index, recordOf(fields["content_block"]));
        break;
      case "content_block_delta":
        this.#takeDelta(index, recordOf(fields["delta"]));
        break;
      case "content_block_stop":
        this.#openIndex = null;
        break;
      case "message_delta":
        this.#ending = recordOf(fields["delta"]);
        this.#usage = recordOf(fields["usage"]);
        break;
      default:
    }
  }

  body(): unknown {
    if (this.#whole !== null) return this.#whole;
    if (Object.keys(this.#message).length === 0) return null;
    const content = [...this.#blocks.entries()]
      .toSorted(([left], [right]) => left - right)
      .map(([, block]) => wholeBlock(block));
    const usage = { ...recordOf(this.#message["usage"]), ...this.#usage };
    return { ...this.#message, content, ...this.#ending, usage };
  }

  cappedEnding(outputTokens: number): string {
    const index = this.#openIndex;
    const stop = { stop_reason: "max_tokens", stop_sequence: null };
    const usage = { output_tokens: outputTokens };
    return (
      (index === null ? "" : sse("content_block_stop", { type: "content_block_stop", index })) +
      sse("message_delta", { type: "message_delta", delta: stop, usage }) +
      sse("message_stop", { type: "message_stop" })
    );
  }

  #openBlock(index: number, start: JsonRecord): void {
    this.#openIndex = index;
    if (this.#budget.pay(JSON.stringify(start).length))
      this.#blocks.set(index, { start, texts: new Map() });
  }

  #takeDelta(index: number, delta: JsonRecord): void {
    const known = DELTAS.get(textOf(delta["type"]) ?? "");
    const block = this.#blocks.get(index);
    if (known === undefined || block === undefined) return;
    const [from, to] = known;
    const piece = textOf(delta[from]) ?? "";
    this.visibleChars += piece.length;
    const text = block.texts.get(to) ?? new KeptText(this.#budget);
    block.texts.set(to, text);
    text.add(piece);
  }
}

function wholeBlock({ start, texts }: Block): JsonRecord {
  const added = [...texts].map(([field, text]): [string, unknown] => {
    const value = text.toString();
    if (field !== "input") return [field, (textOf(start[field]) ?? "") + value];
    // Arguments that broke off stay as the text that came.
    return [field, parseJson(value) ?? value];
  });
  return { ...start, ...Object.fromEntries(added) };
}
