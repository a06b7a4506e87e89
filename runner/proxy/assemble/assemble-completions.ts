import { listOf, numberOf, recordOf, textOf } from "../../../core/usage/json-view.ts";
import type { JsonRecord } from "../../../core/usage/json-view.ts";
import { KeptText } from "./kept-text.ts";
import type { KeepBudget } from "./kept-text.ts";
import { sse } from "./reply-assembler.ts";
import type { ReplyAssembler } from "./reply-assembler.ts";

interface Call {
  id: string | null;
  type: string;
  name: string;
  readonly arguments: KeptText;
}

interface Choice {
  readonly texts: Map<string, KeptText>;
  readonly calls: Map<number, Call>;
  role: string;
  finishReason: string | null;
}

/** More than any provider gives; a bound on what a hostile stream can make us keep. */
const MAX_CHOICES = 128;
/** What an entry costs of the budget beside its text. */
const ENTRY_CHARS = 64;

const TEXT_FIELDS = ["content", "reasoning_content", "reasoning", "refusal"];

export class CompletionsAssembler implements ReplyAssembler {
  readonly #budget: KeepBudget;
  readonly #choices = new Map<number, Choice>();
  #head: JsonRecord = {};
  #usage: unknown = null;
  #error: unknown = null;
  #whole: JsonRecord | null = null;
  visibleChars = 0;

  constructor(budget: KeepBudget) {
    this.#budget = budget;
  }

  read(event: unknown): void {
    const fields = recordOf(event);
    if (fields["object"] === "chat.completion" || this.#isWhole(fields)) {
      this.#whole = fields;
      this.visibleChars = JSON.stringify(fields["choices"] ?? "").length;
      return;
    }
    const { choices, usage, error, ...head } = fields;
    // The first chunk names the reply; later ones repeat it.
    if (Object.keys(this.#head).length === 0) this.#head = head;
    this.#usage = usage ?? this.#usage;
    this.#error = error ?? this.#error;
    for (const choice of listOf(choices)) this.#takeChoice(recordOf(choice));
  }

  body(): unknown {
    if (this.#whole !== null) return this.#whole;
    if (Object.keys(this.#head).length === 0 && this.#choices.size === 0)
      return this.#error === null ? null : { error: this.#error };
    const choices = [...this.#choices.entries()]
      .toSorted(([left], [right]) => left - right)
      .map(([index, choice]) => wholeChoice(index, choice));
    return {
      ...this.#head,
      object: "chat.completion",
      choices,
      usage: this.#usage,
      ...(this.#error === null ? {} : { error: this.#error }),
    };
  }

  cappedEnding(outputTokens: number): string {
    const head = { ...this.#head, object: "chat.completion.chunk" };
    const indexes = this.#choices.size === 0 ? [0] : [...this.#choices.keys()];
    const choices = indexes.map((index) => ({ index, delta: {}, finish_reason: "length" }));
    const usage = {
      prompt_tokens: 0,
      completion_tokens: outputTokens,
      total_tokens: outputTokens,
    };
    return (
      sse(null, { ...head, choices }) +
      sse(null, { ...head, choices: [], usage }) +
      sse(null, "[DONE]")
    );
  }

  #isWhole(fields: JsonRecord): boolean {
    return listOf(fields["choices"]).some((choice) => "message" in recordOf(choice));
  }

  #takeChoice(choice: JsonRecord): void {
    const index = numberOf(choice["index"]) ?? 0;
    if (index >= MAX_CHOICES) return;
    const kept = this.#choices.get(index) ?? {
      texts: new Map<string, KeptText>(),
      calls: new Map<number, Call>(),
      role: "assistant",
      finishReason: null,
    };
    this.#choices.set(index, kept);
    const delta = recordOf(choice["delta"]);
    kept.role = textOf(delta["role"]) ?? kept.role;
    kept.finishReason = textOf(choice["finish_reason"]) ?? kept.finishReason;
    for (const field of TEXT_FIELDS) this.#takeText(kept, field, textOf(delta[field]));
    for (const call of listOf(delta["tool_calls"])) this.#takeCall(kept, recordOf(call));
  }

  #takeText(choice: Choice, field: string, piece: string | null): void {
    if (piece === null) return;
    const text = choice.texts.get(field) ?? new KeptText(this.#budget);
    choice.texts.set(field, text);
    this.visibleChars += piece.length;
    text.add(piece);
  }

  #takeCall(choice: Choice, delta: JsonRecord): void {
    const index = numberOf(delta["index"]) ?? choice.calls.size;
    if (!choice.calls.has(index) && !this.#budget.pay(ENTRY_CHARS)) return;
    const call = choice.calls.get(index) ?? {
      id: null,
      type: "function",
      name: "",
      arguments: new KeptText(this.#budget),
    };
    choice.calls.set(index, call);
    const named = recordOf(delta["function"]);
    const piece = textOf(named["arguments"]) ?? "";
    call.id ??= textOf(delta["id"]);
    call.name ||= textOf(named["name"]) ?? "";
    this.visibleChars += piece.length;
    call.arguments.add(piece);
  }
}

function wholeChoice(index: number, choice: Choice): JsonRecord {
  const calls = [...choice.calls.values()].map((call) => ({
    id: call.id,
    type: call.type,
    function: { name: call.name, arguments: call.arguments.toString() },
  }));
  const texts = Object.fromEntries([...choice.texts].map(([field, text]) => [field, String(text)]));
  const message = {
    role: choice.role,
    content: null,
    ...texts,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return { index, message, finish_reason: choice.finishReason };
}
