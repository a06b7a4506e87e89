import type { UsageReading } from "../model/usage-reading.ts";
import { errorText } from "./error-text.ts";
import { inclusiveExtras, inclusiveUsage, reasoningOf, tierExtras } from "./inclusive-counts.ts";
import type { CountFields } from "./inclusive-counts.ts";
import { isRecord, listOf, numberOf, recordOf, textOf } from "./json-view.ts";
import type { JsonRecord } from "./json-view.ts";
import { RisingCounts } from "./rising-counts.ts";
import { readingOf } from "./token-counts.ts";
import type { UsageDialect } from "./usage-dialect.ts";

const FIELDS: CountFields = {
  prompt: "prompt_tokens",
  completion: "completion_tokens",
  promptDetails: "prompt_tokens_details",
  completionDetails: "completion_tokens_details",
};

/** More than any provider gives; a bound on what a hostile stream can make us keep. */
const MAX_CHOICES = 1024;

/**
 * OpenAI Chat Completions (notes/agents 7). In a stream the usage comes in a last chunk, if it was
 * asked for, or with the finishing one; some servers tell it in every chunk, so the last one counts
 * and is final only once every choice has finished. Moonshot puts it into the choice, Groq into
 * `x_groq`.
 */
export class CompletionsDialect implements UsageDialect {
  #usage: JsonRecord | null = null;
  #model: string | null = null;
  #tier: unknown = null;
  #stopReason: string | null = null;
  #error: string | null = null;
  #ended = false;
  readonly #counts = new RisingCounts();
  readonly #open = new Set<number>();
  readonly #finished = new Set<number>();

  read(event: unknown): void {
    const body = recordOf(event);
    this.#model = textOf(body["model"]) ?? this.#model;
    this.#tier = body["service_tier"] ?? this.#tier;
    if (body["error"] !== undefined && body["error"] !== null)
      this.#error = errorText(body["error"]);
    this.#takeUsage(recordOf(body["x_groq"])["usage"]);
    for (const choice of listOf(body["choices"])) this.#takeChoice(recordOf(choice));
    this.#takeUsage(body["usage"]);
    if (body["object"] === "chat.completion") this.#ended = true;
  }

  endMark(): void {
    this.#ended = true;
  }

  hasEnded(): boolean {
    return this.#ended || this.#allFinished();
  }

  outputSoFar(): number {
    return this.#usage === null ? 0 : (numberOf(this.#usage[FIELDS.completion]) ?? 0);
  }

  reading(): UsageReading {
    const usage = this.#usage ?? {};
    const facts = {
      model: this.#model,
      stopReason: this.#stopReason,
      reasoning: reasoningOf(usage, FIELDS),
      error: this.#error,
      extras: [...inclusiveExtras(usage, FIELDS), ...tierExtras(this.#tier)],
      raw: this.#usage,
    };
    const isFinal = this.#usage !== null && this.hasEnded();
    return readingOf(facts, isFinal, () => this.#counts.checked(inclusiveUsage(usage, FIELDS)));
  }

  #allFinished(): boolean {
    return this.#open.size > 0 && this.#finished.size === this.#open.size;
  }

  #takeChoice(choice: JsonRecord): void {
    const index = numberOf(choice["index"]) ?? 0;
    if (index >= MAX_CHOICES) return;
    this.#open.add(index);
    this.#takeUsage(choice["usage"]);
    const reason = textOf(choice["finish_reason"]);
    if (reason === null || reason === "") return;
    this.#finished.add(index);
    this.#stopReason = reason;
  }

  #takeUsage(usage: unknown): void {
    if (!isRecord(usage)) return;
    this.#counts.tellFields(usage, [FIELDS.prompt, FIELDS.completion]);
    this.#usage = usage;
  }
}
