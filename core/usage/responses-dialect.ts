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
  prompt: "input_tokens",
  completion: "output_tokens",
  promptDetails: "input_tokens_details",
  completionDetails: "output_tokens_details",
};

const FINAL_EVENTS = new Set(["response.completed", "response.incomplete", "response.failed"]);
const FINAL_STATES = new Set(["completed", "incomplete", "failed"]);

/** Output items that a provider's own tool made, each billed by the call. */
const SERVER_CALLS = new Set([
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "mcp_call",
]);

/** OpenAI Responses (notes/agents 7): the terminal event, and only it, holds the usage. */
export class ResponsesDialect implements UsageDialect {
  #usage: JsonRecord | null = null;
  #response: JsonRecord = {};
  #stopReason: string | null = null;
  #error: string | null = null;
  #isFinal = false;
  readonly #counts = new RisingCounts();
  readonly #serverCalls = new Set<string>();

  read(event: unknown): void {
    const body = recordOf(event);
    const type = textOf(body["type"]);
    const response = body["object"] === "response" ? body : body["response"];
    if (isRecord(response)) this.#takeResponse(response, type);
    if (type === "response.output_item.done") this.#takeItem(body["item"]);
    if (type === "error") this.#error = errorText(body["error"] ?? body);
    else if (isRecord(body["error"])) this.#error = errorText(body["error"]);
  }

  endMark(): void {}

  hasEnded(): boolean {
    return this.#isFinal;
  }

  outputSoFar(): number {
    return this.#usage === null ? 0 : (numberOf(this.#usage[FIELDS.completion]) ?? 0);
  }

  reading(): UsageReading {
    const usage = this.#usage ?? {};
    const facts = {
      model: textOf(this.#response["model"]),
      stopReason: this.#stopReason,
      reasoning: reasoningOf(usage, FIELDS),
      error: this.#error,
      extras: [
        ...inclusiveExtras(usage, FIELDS),
        ...tierExtras(this.#response["service_tier"]),
        ...this.#serverCalls,
      ],
      raw: this.#usage,
    };
    const isFinal = this.#isFinal && this.#usage !== null;
    return readingOf(facts, isFinal, () => this.#counts.checked(inclusiveUsage(usage, FIELDS)));
  }

  #takeResponse(response: JsonRecord, eventType: string | null): void {
    this.#response = response;
    const status = textOf(response["status"]) ?? "";
    const isLast = eventType === null ? FINAL_STATES.has(status) : FINAL_EVENTS.has(eventType);
    if (!isLast) return;
    this.#isFinal = true;
    const reason = textOf(recordOf(response["incomplete_details"])["reason"]);
    this.#stopReason = reason ?? status;
    if (isRecord(response["usage"])) this.#takeUsage(response["usage"]);
    if (isRecord(response["error"])) this.#error = errorText(response["error"]);
    for (const item of listOf(response["output"])) this.#takeItem(item);
  }

  #takeUsage(usage: JsonRecord): void {
    this.#counts.tellFields(usage, [FIELDS.prompt, FIELDS.completion]);
    this.#usage = usage;
  }

  #takeItem(item: unknown): void {
    const type = textOf(recordOf(item)["type"]);
    if (type !== null && SERVER_CALLS.has(type)) this.#serverCalls.add(type);
  }
}
