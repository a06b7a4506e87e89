import type { TokenBuckets } from "../model/usage-buckets.ts";
import type { UsageReading } from "../model/usage-reading.ts";
import { errorText } from "./error-text.ts";
import { tierExtras } from "./inclusive-counts.ts";
import { isRecord, listOf, numberOf, recordOf, textOf } from "./json-view.ts";
import type { JsonRecord } from "./json-view.ts";
import { RisingCounts } from "./rising-counts.ts";
import { CountRefusal, countOf, readingOf } from "./token-counts.ts";
import type { UsageDialect } from "./usage-dialect.ts";

/** A usage object has a dozen; a bound on what a hostile stream can make us keep. */
const MAX_FIELDS = 128;

const COUNTS = ["promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount"];

/**
 * Gemini generateContent (notes/agents 7). Every chunk tells the usage so far, the last one counts,
 * and it is final once a candidate has finished or the prompt was blocked. The prompt includes cached
 * tokens; candidates leave thoughts out; what a tool brought in is extra input.
 */
export class GeminiDialect implements UsageDialect {
  #usage: JsonRecord | null = null;
  #model: string | null = null;
  #stopReason: string | null = null;
  #error: string | null = null;
  #grounded = false;
  readonly #counts = new RisingCounts();

  read(event: unknown): void {
    // Without `alt=sse` a stream is one JSON array of chunks.
    for (const chunk of Array.isArray(event) ? event : [event]) this.#readChunk(recordOf(chunk));
  }

  endMark(): void {}

  hasEnded(): boolean {
    return this.#stopReason !== null;
  }

  outputSoFar(): number {
    const usage = this.#usage ?? {};
    return (
      (numberOf(usage["candidatesTokenCount"]) ?? 0) + (numberOf(usage["thoughtsTokenCount"]) ?? 0)
    );
  }

  reading(): UsageReading {
    const usage = this.#usage ?? {};
    const facts = {
      model: this.#model,
      stopReason: this.#stopReason,
      reasoning: numberOf(usage["thoughtsTokenCount"]),
      error: this.#error,
      extras: [...geminiExtras(usage), ...(this.#grounded ? ["grounding"] : [])],
      raw: this.#usage,
    };
    const isFinal = this.#usage !== null && this.#stopReason !== null;
    return readingOf(facts, isFinal, () => this.#counts.checked(geminiBuckets(usage)));
  }

  #readChunk(chunk: JsonRecord): void {
    const usage = { ...this.#usage, ...recordOf(chunk["usageMetadata"]) };
    const isTold = isRecord(chunk["usageMetadata"]);
    if (isTold && Object.keys(usage).length <= MAX_FIELDS) {
      this.#counts.tellFields(usage, COUNTS);
      this.#usage = usage;
    }
    this.#model = textOf(chunk["modelVersion"]) ?? this.#model;
    for (const candidate of listOf(chunk["candidates"])) {
      const fields = recordOf(candidate);
      this.#stopReason = textOf(fields["finishReason"]) ?? this.#stopReason;
      this.#grounded ||= isRecord(fields["groundingMetadata"]);
    }
    const blocked = textOf(recordOf(chunk["promptFeedback"])["blockReason"]);
    this.#stopReason ??= blocked;
    if (chunk["error"] !== undefined) this.#error = errorText(chunk["error"]);
  }
}

function geminiBuckets(usage: JsonRecord): TokenBuckets | null {
  const prompt = countOf(usage, "promptTokenCount");
  if (prompt === null) return null;
  const candidates = countOf(usage, "candidatesTokenCount") ?? 0;
  const thoughts = countOf(usage, "thoughtsTokenCount") ?? 0;
  const toolUse = countOf(usage, "toolUsePromptTokenCount") ?? 0;
  const cacheRead = countOf(usage, "cachedContentTokenCount") ?? 0;
  const total = countOf(usage, "totalTokenCount");
  const counted = prompt + candidates;
  const apart = total === null ? thoughts + toolUse : total - counted;
  // The total tells which of the two a server has already counted in.
  const isKnown = [thoughts + toolUse, toolUse, thoughts, 0].includes(apart);
  if (!isKnown)
    throw new CountRefusal(
      "total-mismatch",
      `${prompt} prompt, ${candidates} candidate, ${thoughts} thought and ${toolUse} tool tokens are told to be ${total} in all`,
    );
  if (apart === thoughts && thoughts === toolUse && thoughts > 0)
    throw new CountRefusal(
      "ambiguous-total",
      `either ${thoughts} thought or ${toolUse} tool tokens are counted apart`,
    );
  const isWhole = apart === thoughts + toolUse;
  const output = candidates + (isWhole || apart === thoughts ? thoughts : 0);
  const input = prompt + apart - (output - candidates) - cacheRead;
  if (input < 0)
    throw new CountRefusal("cache-exceeds-input", `${cacheRead} cached of ${prompt} prompt tokens`);
  return { input, output, cacheRead, cacheWrite5m: 0, cacheWrite1h: 0 };
}

function geminiExtras(usage: JsonRecord): string[] {
  const sound = ["promptTokensDetails", "candidatesTokensDetails"].flatMap((field) =>
    listOf(usage[field]).flatMap((entry) => {
      const { modality, tokenCount } = recordOf(entry);
      const isText = modality === "TEXT" || modality === "IMAGE" || modality === "DOCUMENT";
      const isListed = isText && !(field === "candidatesTokensDetails" && modality === "IMAGE");
      return isListed || (numberOf(tokenCount) ?? 0) === 0 ? [] : [`${field} ${String(modality)}`];
    }),
  );
  const traffic = textOf(usage["trafficType"]);
  const isListedTraffic = traffic === null || traffic === "ON_DEMAND";
  return [...sound, ...(isListedTraffic ? [] : tierExtras(traffic))];
}
