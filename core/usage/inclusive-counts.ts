import type { TokenBuckets } from "../model/usage-buckets.ts";
import { isRecord, numberOf, recordOf } from "./json-view.ts";
import type { JsonRecord } from "./json-view.ts";
import { CountRefusal, agreedCount, countOf } from "./token-counts.ts";

/** Token counts in OpenAI's manner, before it is clear what includes what. */
export interface ReportedCounts {
  readonly prompt: number;
  readonly completion: number;
  readonly total: number | null;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly reasoning: number;
}

/**
 * Five disjoint buckets out of OpenAI's manner of counting: the prompt includes what was cached, the
 * completion includes reasoning, and `prompt + completion = total`. Where that sum holds nothing is
 * ever added, whatever other fields a gateway left in (spec 9.5, the double count). Where the total is
 * larger, the difference says what the provider counts apart: the cached tokens (a gateway that passes
 * Anthropic's numbers on) or the reasoning (xAI, Gemini's OpenAI endpoint). A difference that nothing
 * or more than one thing explains is refused.
 */
export function inclusiveBuckets(counts: ReportedCounts): TokenBuckets {
  const { cacheRead, cacheWrite5m, cacheWrite1h } = counts;
  const { addInput, addOutput } = explainTotal(counts);
  const input = counts.prompt + addInput - cacheRead - cacheWrite5m - cacheWrite1h;
  const output = counts.completion + addOutput;
  if (input < 0) {
    const cached = cacheRead + cacheWrite5m + cacheWrite1h;
    throw new CountRefusal(
      "cache-exceeds-input",
      `${cached} cached tokens of ${counts.prompt + addInput} prompt tokens`,
    );
  }
  if (counts.reasoning > output)
    throw new CountRefusal(
      "reasoning-exceeds-output",
      `${counts.reasoning} reasoning tokens of ${output} output tokens`,
    );
  return { input, output, cacheRead, cacheWrite5m, cacheWrite1h };
}

interface Explanation {
  readonly addInput: number;
  readonly addOutput: number;
}

function explainTotal(counts: ReportedCounts): Explanation {
  const { prompt, completion, total } = counts;
  const gap = total === null ? 0 : total - prompt - completion;
  if (gap === 0) return { addInput: 0, addOutput: 0 };
  const write = counts.cacheWrite5m + counts.cacheWrite1h;
  const inputs = new Set([0, counts.cacheRead, write, counts.cacheRead + write]);
  const found = [...inputs].flatMap((addInput) =>
    [...new Set([0, counts.reasoning])]
      .filter((addOutput) => addInput + addOutput === gap)
      .map((addOutput) => ({ addInput, addOutput })),
  );
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  throw new CountRefusal(
    only === undefined ? "total-mismatch" : "ambiguous-total",
    `${prompt} + ${completion} tokens with ${counts.cacheRead} read from cache, ${write} written to it and ${counts.reasoning} reasoning are told to be ${total} in all`,
  );
}

/** Names of one usage object's fields: Chat Completions and Responses differ only in these. */
export interface CountFields {
  readonly prompt: string;
  readonly completion: string;
  readonly promptDetails: string;
  readonly completionDetails: string;
}

/** A usage object in OpenAI's manner; null when it has no prompt or no completion count. */
export function inclusiveUsage(usage: JsonRecord, fields: CountFields): TokenBuckets | null {
  const prompt = countOf(usage, fields.prompt);
  const completion = countOf(usage, fields.completion);
  if (prompt === null || completion === null) return null;
  const details = recordOf(usage[fields.promptDetails]);
  const written = agreedCount([
    { source: details, field: "cache_write_tokens" },
    { source: details, field: "cache_creation_tokens" },
    { source: usage, field: "cache_creation_input_tokens" },
  ]);
  const split = details["cache_creation_token_details"];
  const cacheWrite1h = isRecord(split) ? (countOf(split, "ephemeral_1h_input_tokens") ?? 0) : 0;
  if (cacheWrite1h > written)
    throw new CountRefusal(
      "fields-disagree",
      `${cacheWrite1h} tokens written for 1 h of ${written} written`,
    );
  return inclusiveBuckets({
    prompt,
    completion,
    total: countOf(usage, "total_tokens"),
    cacheRead: cacheReads(usage, details),
    cacheWrite5m: written - cacheWrite1h,
    cacheWrite1h,
    reasoning: countOf(recordOf(usage[fields.completionDetails]), "reasoning_tokens") ?? 0,
  });
}

/** DeepSeek, Moonshot and gateways each have a name of their own beside OpenAI's. */
function cacheReads(usage: JsonRecord, details: JsonRecord): number {
  return agreedCount([
    { source: details, field: "cached_tokens" },
    { source: usage, field: "prompt_cache_hit_tokens" },
    { source: usage, field: "cached_tokens" },
    { source: usage, field: "cache_read_input_tokens" },
  ]);
}

/** Reasoning as told, a part of the completion; null where it is not told or no count. */
export function reasoningOf(usage: JsonRecord, fields: CountFields): number | null {
  const told = recordOf(usage[fields.completionDetails])["reasoning_tokens"];
  return typeof told === "number" && Number.isInteger(told) && told >= 0 ? told : null;
}

/** What OpenAI's manner bills at rates of its own: sound, pictures made, sources searched. */
export function inclusiveExtras(usage: JsonRecord, fields: CountFields): string[] {
  const told = [
    [recordOf(usage[fields.promptDetails]), "audio_tokens", "input audio_tokens"],
    [recordOf(usage[fields.completionDetails]), "audio_tokens", "output audio_tokens"],
    [recordOf(usage[fields.completionDetails]), "image_tokens", "output image_tokens"],
    [usage, "num_sources_used", "num_sources_used"],
  ] as const;
  return told.flatMap(([source, field, name]) =>
    (numberOf(source[field]) ?? 0) > 0 ? [name] : [],
  );
}

/** Tiers that are billed at the listed price. */
const LISTED_TIERS = new Set(["default", "auto", "standard", "on_demand"]);

/** A service tier that is billed at other prices than the listed ones. */
export function tierExtras(tier: unknown): string[] {
  return typeof tier === "string" && !LISTED_TIERS.has(tier.toLowerCase())
    ? [`service_tier ${tier}`]
    : [];
}
