import type { ModelProtocol } from "../../core/model/exchange.ts";
import { promptTokens, totalTokens } from "../../core/model/usage-buckets.ts";
import type { TokenBuckets } from "../../core/model/usage-buckets.ts";
import type { UsageReading } from "../../core/model/usage-reading.ts";
import type { JsonRecord } from "../../core/usage/json-view.ts";

/**
 * What the provider was measured to have used, as the agent's own protocol tells it; null where nothing
 * was told that can be believed. Gemini has no word for tokens written to a cache: they are prompt.
 */
export function toldUsage(protocol: ModelProtocol, reading: UsageReading): JsonRecord | null {
  if (reading.status !== "complete") return null;
  const { tokens } = reading;
  const reasoning = Math.min(reading.reasoning ?? 0, tokens.output);
  switch (protocol) {
    case "anthropic-messages":
      return {
        input_tokens: tokens.input,
        cache_creation_input_tokens: tokens.cacheWrite5m + tokens.cacheWrite1h,
        cache_read_input_tokens: tokens.cacheRead,
        cache_creation: {
          ephemeral_5m_input_tokens: tokens.cacheWrite5m,
          ephemeral_1h_input_tokens: tokens.cacheWrite1h,
        },
        output_tokens: tokens.output,
      };
    case "openai-completions":
      return {
        prompt_tokens: promptTokens(tokens),
        completion_tokens: tokens.output,
        total_tokens: totalTokens(tokens),
        prompt_tokens_details: promptDetails(tokens),
        completion_tokens_details: { reasoning_tokens: reasoning },
      };
    case "openai-responses":
      return {
        input_tokens: promptTokens(tokens),
        input_tokens_details: promptDetails(tokens),
        output_tokens: tokens.output,
        output_tokens_details: { reasoning_tokens: reasoning },
        total_tokens: totalTokens(tokens),
      };
    case "gemini":
      return {
        promptTokenCount: promptTokens(tokens),
        cachedContentTokenCount: tokens.cacheRead,
        candidatesTokenCount: tokens.output - reasoning,
        thoughtsTokenCount: reasoning,
        totalTokenCount: totalTokens(tokens),
      };
  }
}

function promptDetails(tokens: TokenBuckets): JsonRecord {
  const written = tokens.cacheWrite5m + tokens.cacheWrite1h;
  return {
    cached_tokens: tokens.cacheRead,
    ...(written === 0 ? {} : { cache_write_tokens: written }),
    ...(tokens.cacheWrite1h === 0
      ? {}
      : { cache_creation_token_details: { ephemeral_1h_input_tokens: tokens.cacheWrite1h } }),
  };
}
