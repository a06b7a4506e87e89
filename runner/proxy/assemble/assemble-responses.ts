import { isRecord, numberOf, recordOf, textOf } from "../../../core/usage/json-view.ts";
import type { JsonRecord } from "../../../core/usage/json-view.ts";
import type { KeepBudget } from "./kept-text.ts";
import { sse } from "./reply-assembler.ts";
import type { ReplyAssembler } from "./reply-assembler.ts";

const FINAL_EVENTS = new Set(["response.completed", "response.incomplete", "response.failed"]);

/** The terminal event repeats the whole reply; until it comes, the items that are done stand for it. */
export class ResponsesAssembler implements ReplyAssembler {
  readonly #budget: KeepBudget;
  readonly #items: unknown[] = [];
  #response: JsonRecord = {};
  #error: unknown = null;
  #isFinal = false;
  #sequence = 0;
  visibleChars = 0;

  constructor(budget: KeepBudget) {
    this.#budget = budget;
  }

  read(event: unknown): void {
    const fields = recordOf(event);
    if (fields["object"] === "response") {
      this.#response = fields;
      this.#isFinal = true;
      this.visibleChars = JSON.stringify(fields["output"] ?? "").length;
      return;
    }
    const type = textOf(fields["type"]) ?? "";
    this.#sequence = (numberOf(fields["sequence_number"]) ?? this.#sequence) + 1;
    this.visibleChars += type.endsWith(".delta") ? (textOf(fields["delta"]) ?? "").length : 0;
    if (isRecord(fields["response"])) this.#response = fields["response"];
    this.#isFinal ||= FINAL_EVENTS.has(type);
    if (type === "response.output_item.done") this.#keepItem(fields["item"]);
    if (type === "error") this.#error = fields;
  }

  body(): unknown {
    if (this.#isFinal) return this.#response;
    if (Object.keys(this.#response).length === 0)
      return this.#error === null ? null : { error: this.#error };
    return {
      ...this.#response,
      output: this.#items,
      ...(this.#error === null ? {} : { error: this.#error }),
    };
  }

  cappedEnding(_outputTokens: number): string {
    const type = "response.incomplete";
    const response = {
      ...this.#response,
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: this.#items,
      usage: null,
    };
    return sse(type, { type, sequence_number: this.#sequence, response });
  }

  #keepItem(item: unknown): void {
    const text = JSON.stringify(item ?? null);
    if (this.#budget.pay(text.length)) this.#items.push(item);
  }
}
