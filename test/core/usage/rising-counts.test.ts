import { expect, test } from "vitest";
import { anomaly, buckets, stream } from "./read-usage.ts";

const chunk = (prompt: number, completion: number): unknown => ({
  choices: [{ finish_reason: "stop" }],
  usage: {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  },
});
const completed = (input: number, output: number): unknown => ({
  type: "response.completed",
  response: {
    object: "response",
    status: "completed",
    usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
  },
});
const candidate = (prompt: number, candidates: number): unknown => ({
  candidates: [{ finishReason: "STOP" }],
  usageMetadata: {
    promptTokenCount: prompt,
    candidatesTokenCount: candidates,
    totalTokenCount: prompt + candidates,
  },
});
const start = (usage: object): unknown => ({ type: "message_start", message: { usage } });
const delta = (usage: object): unknown => ({
  type: "message_delta",
  delta: { stop_reason: "end_turn" },
  usage,
});

test.each([
  ["openai-completions", [chunk(29_000, 5), chunk(1, 1)]],
  ["openai-completions", [chunk(29_000, 5), "[DONE]", chunk(29_000, 1)]],
  ["openai-responses", [completed(29_000, 5), completed(1, 5)]],
  ["gemini", [candidate(29_000, 5), candidate(29_000, 1)]],
  [
    "anthropic-messages",
    [start({ input_tokens: 29_000 }), delta({ output_tokens: 5 }), delta({ output_tokens: 1 })],
  ],
  [
    "anthropic-messages",
    [start({ input_tokens: 29_000 }), delta({ input_tokens: 1, output_tokens: 5 })],
  ],
] as const)(
  "a count that falls within a reply of %s is an anomaly, never the lower figure",
  (protocol, events) => {
    expect(anomaly(stream(protocol, events))).toBe("count-fell");
  },
);

test.each([
  ["openai-completions", [chunk(100, 1), chunk(100, 3), chunk(100, 7)], [100, 7, 0, 0, 0]],
  ["gemini", [candidate(100, 1), candidate(100, 7)], [100, 7, 0, 0, 0]],
  // The output of `message_start` is a guess that may be above the real figure.
  [
    "anthropic-messages",
    [start({ input_tokens: 100, output_tokens: 8 }), delta({ output_tokens: 2 })],
    [100, 2, 0, 0, 0],
  ],
  // A gateway's first figure counts the cached part in, its last one apart.
  [
    "anthropic-messages",
    [
      start({ input_tokens: 100, cache_read_input_tokens: 60 }),
      delta({ input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 2 }),
    ],
    [40, 2, 60, 0, 0],
  ],
] as const)(
  "counts of %s that rise, or are counted in another manner, are read",
  (protocol, events, expected) => {
    expect(buckets(stream(protocol, events))).toEqual(expected);
  },
);
