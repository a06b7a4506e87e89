import { expect, test } from "vitest";
import type { UsageReading } from "../../../core/model/usage-reading.ts";
import { anomaly, anthropic, chat, gemini, responses } from "./read-usage.ts";

test.each<[string, UsageReading]>([
  ["negative", anthropic({ input_tokens: -5, output_tokens: 1 })],
  ["negative", gemini({ promptTokenCount: 10, candidatesTokenCount: -1 })],
  ["not-a-count", chat({ prompt_tokens: 1.5, completion_tokens: 1 })],
  ["not-a-count", chat({ prompt_tokens: "12", completion_tokens: 1 })],
  ["not-a-count", responses({ input_tokens: 1e15, output_tokens: 1 })],
  [
    "cache-exceeds-input",
    // An old gateway's reply: Anthropic's parts disjoint, but the total leaves the cache out.
    chat({
      prompt_tokens: 194,
      completion_tokens: 7,
      total_tokens: 201,
      cache_creation_input_tokens: 9474,
      cache_read_input_tokens: 0,
    }),
  ],
  ["cache-exceeds-input", gemini({ promptTokenCount: 10, cachedContentTokenCount: 11 })],
  [
    "reasoning-exceeds-output",
    responses({
      input_tokens: 9,
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 6 },
    }),
  ],
  ["total-mismatch", chat({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 99 })],
  ["total-mismatch", chat({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 3 })],
  ["total-mismatch", anthropic({ input_tokens: 10, output_tokens: 5, total_tokens: 20 })],
  ["total-mismatch", gemini({ promptTokenCount: 10, totalTokenCount: 12 })],
  [
    "ambiguous-total",
    chat({
      prompt_tokens: 100,
      completion_tokens: 100,
      total_tokens: 210,
      cache_read_input_tokens: 10,
      completion_tokens_details: { reasoning_tokens: 10 },
    }),
  ],
  [
    "fields-disagree",
    chat({
      prompt_tokens: 100,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens: 10 },
      cache_read_input_tokens: 20,
    }),
  ],
  [
    "fields-disagree",
    anthropic({
      input_tokens: 1,
      output_tokens: 1,
      cache_creation_input_tokens: 50,
      cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 20 },
    }),
  ],
  ["nothing-used", chat({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })],
  ["incomplete", chat({})],
  ["incomplete", anthropic({ input_tokens: 4 })],
])("impossible usage is %s, never a number (C-36)", (kind, reading) => {
  expect(anomaly(reading)).toBe(kind);
});
