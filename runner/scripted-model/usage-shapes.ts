import type { ModelProtocol } from "../../core/model/exchange.ts";
import type { ScriptedUsage } from "../../core/model/model-script.ts";

/** A script's usage in each provider's own manner of counting (notes/agents 7). */
export function usageShape(protocol: ModelProtocol, usage: ScriptedUsage): Record<string, unknown> {
  // A part of the output: a short answer of a script cannot have thought for longer.
  const reasoning = Math.min(usage.reasoning, usage.output);
  const written = usage.cacheWrite5m + usage.cacheWrite1h;
  const prompt = usage.input + usage.cacheRead + written;
  const total = prompt + usage.output;
  switch (protocol) {
    case "anthropic-messages":
      return {
        input_tokens: usage.input,
        cache_creation_input_tokens: written,
        cache_read_input_tokens: usage.cacheRead,
        cache_creation: {
          ephemeral_5m_input_tokens: usage.cacheWrite5m,
          ephemeral_1h_input_tokens: usage.cacheWrite1h,
        },
        output_tokens: usage.output,
        service_tier: "standard",
      };
    case "openai-completions":
      return {
        prompt_tokens: prompt,
        completion_tokens: usage.output,
        total_tokens: total,
        prompt_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: written },
        completion_tokens_details: { reasoning_tokens: reasoning },
      };
    case "openai-responses":
      return {
        input_tokens: prompt,
        input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: written },
        output_tokens: usage.output,
        output_tokens_details: { reasoning_tokens: reasoning },
        total_tokens: total,
      };
    case "gemini":
      return {
        promptTokenCount: prompt,
        cachedContentTokenCount: usage.cacheRead,
        candidatesTokenCount: usage.output - reasoning,
        thoughtsTokenCount: reasoning,
        totalTokenCount: total,
        promptTokensDetails: [{ modality: "TEXT", tokenCount: prompt }],
      };
  }
}
