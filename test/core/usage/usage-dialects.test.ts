import { expect, test } from "vitest";
import { promptTokens, totalTokens } from "../../../core/model/usage-buckets.ts";
import { anthropic, buckets, chat, gemini, read, responses, stream } from "./read-usage.ts";

test("numbers that a gateway normalised already are never added twice (spec 9.5)", () => {
  // The recorded run: 583,214 was reported, 330,692 is right.
  const reading = chat({
    prompt_tokens: 330_692,
    completion_tokens: 8_817,
    total_tokens: 339_509,
    cache_read_input_tokens: 204_853,
    cache_creation_input_tokens: 47_669,
    prompt_tokens_details: { cached_tokens: 204_853, cache_creation_tokens: 47_669 },
  });
  expect(buckets(reading)).toEqual([78_170, 8_817, 204_853, 47_669, 0]);
  if (reading.status !== "complete") throw new Error("not complete");
  expect(promptTokens(reading.tokens)).toBe(330_692);
  expect(totalTokens(reading.tokens)).toBe(339_509);
});

test("the same recorded numbers read the same through an Anthropic gateway", () => {
  const cached = { cache_read_input_tokens: 204_853, cache_creation_input_tokens: 47_669 };
  const own = anthropic({ input_tokens: 78_170, output_tokens: 8_817, ...cached });
  const normalised = anthropic({
    input_tokens: 330_692,
    output_tokens: 8_817,
    total_tokens: 339_509,
    ...cached,
  });
  expect(buckets(own)).toEqual([78_170, 8_817, 204_853, 47_669, 0]);
  expect(buckets(normalised)).toEqual(buckets(own));
});

test("a gateway that passes Anthropic's disjoint parts on is told by its total", () => {
  expect(
    buckets(
      chat({
        prompt_tokens: 350,
        completion_tokens: 40,
        total_tokens: 1040,
        cache_read_input_tokens: 600,
        cache_creation_input_tokens: 50,
      }),
    ),
  ).toEqual([350, 40, 600, 50, 0]);
});

test("one call read in both dialects costs the same tokens (failures C-36)", () => {
  const prefix = { cache_read_input_tokens: 600, cache_creation_input_tokens: 50 };
  const left = anthropic({ input_tokens: 350, output_tokens: 40, ...prefix });
  const right = responses({
    input_tokens: 1000,
    output_tokens: 40,
    total_tokens: 1040,
    input_tokens_details: { cached_tokens: 600, cache_write_tokens: 50 },
  });
  expect(buckets(left)).toEqual(buckets(right));
});

test("cached tokens count like any other, also where they are nine tenths of it all (failures C-35)", () => {
  const cached = { cache_read_input_tokens: 183_000, cache_creation_input_tokens: 1_000 };
  const left = anthropic({ input_tokens: 3, output_tokens: 997, ...cached });
  if (left.status !== "complete") throw new Error("not complete");
  expect(totalTokens(left.tokens)).toBe(185_000);
});

test("spec 10.6's recorded reply and the mock of the translation notes read exactly", () => {
  expect(
    buckets(chat({ prompt_tokens: 31_619, completion_tokens: 127, total_tokens: 31_746 })),
  ).toEqual([31_619, 127, 0, 0, 0]);
  const noted = chat({
    prompt_tokens: 1000,
    completion_tokens: 50,
    total_tokens: 1050,
    prompt_tokens_details: { cached_tokens: 800 },
    completion_tokens_details: { reasoning_tokens: 20 },
  });
  expect(buckets(noted)).toEqual([200, 50, 800, 0, 0]);
  expect(noted.reasoning).toBe(20);
});

test("DeepSeek's, Moonshot's and Groq's own names are read", () => {
  const counts = { prompt_tokens: 21_530, completion_tokens: 9, total_tokens: 21_539 };
  expect(buckets(chat({ ...counts, prompt_cache_hit_tokens: 320 }))).toEqual([
    21_210, 9, 320, 0, 0,
  ]);
  expect(buckets(chat({ ...counts, cached_tokens: 320 }))).toEqual([21_210, 9, 320, 0, 0]);
  const done = { choices: [{ index: 0, finish_reason: "stop" }] };
  const inChoice = { choices: [{ index: 0, finish_reason: "stop", usage: counts }] };
  expect(buckets(stream("openai-completions", [inChoice, "[DONE]"]))[0]).toBe(21_530);
  const groq = { ...done, x_groq: { usage: counts } };
  expect(buckets(stream("openai-completions", [groq]))[0]).toBe(21_530);
});

test("reasoning that a provider counts apart is output, told by the total", () => {
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 410 };
  const reading = chat({ ...usage, completion_tokens_details: { reasoning_tokens: 300 } });
  expect(buckets(reading)).toEqual([100, 310, 0, 0, 0]);
});

test("Gemini's thoughts are output beside the candidates, tool results are input", () => {
  // notes/agents 4: the CLI's own count told 72 of 120; three requests of 24 + 16 each.
  const usage = { promptTokenCount: 1000, candidatesTokenCount: 24, thoughtsTokenCount: 16 };
  expect(buckets(gemini({ ...usage, totalTokenCount: 1040 }))[1]).toBe(40);
  expect(buckets(gemini(usage))[1]).toBe(40);
  expect(buckets(gemini({ ...usage, toolUsePromptTokenCount: 7, totalTokenCount: 1047 }))).toEqual([
    1007, 40, 0, 0, 0,
  ]);
  expect(buckets(gemini({ ...usage, totalTokenCount: 1024 }))[1]).toBe(24);
});

test("Anthropic's deltas overwrite and are never added; nulls leave what was told", () => {
  const start = { input_tokens: 5, cache_read_input_tokens: 600, output_tokens: 1 };
  const delta = { input_tokens: null, output_tokens: 20, cache_creation_input_tokens: 50 };
  const reading = stream("anthropic-messages", [
    { type: "message_start", message: { model: "claude", usage: start } },
    { type: "message_delta", delta: {}, usage: { output_tokens: 9 } },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: delta },
    { type: "message_stop" },
  ]);
  expect(buckets(reading)).toEqual([5, 20, 600, 50, 0]);
  expect(reading).toMatchObject({ model: "claude", stopReason: "end_turn" });
});

test("Anthropic's 1 hour writes are apart, and a compaction's tokens are added", () => {
  const usage = {
    input_tokens: 10,
    output_tokens: 4,
    cache_creation_input_tokens: 50,
    cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
  };
  expect(buckets(anthropic(usage))).toEqual([10, 4, 0, 20, 30]);
  const compaction = { type: "compaction", input_tokens: 1000, output_tokens: 100 };
  const message = { type: "message", input_tokens: 10, output_tokens: 4 };
  const iterations = [compaction, message];
  expect(buckets(anthropic({ ...usage, iterations }))).toEqual([1010, 104, 0, 20, 30]);
});

test("usage told in every chunk is final only when every choice has finished", () => {
  const usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 };
  const open = { choices: [{ index: 0, delta: {} }], usage };
  const both = {
    choices: [
      { index: 0, delta: {} },
      { index: 1, delta: {} },
    ],
    usage,
  };
  const first = { choices: [{ index: 0, finish_reason: "stop" }], usage };
  const second = { choices: [{ index: 1, finish_reason: "length" }], usage };
  expect(stream("openai-completions", [open, open]).status).toBe("incomplete");
  expect(stream("openai-completions", [both, first]).status).toBe("incomplete");
  expect(stream("openai-completions", [both, first, second]).status).toBe("complete");
});

test("a failed response tells its error, and only its terminal event its usage", () => {
  const usage = { input_tokens: 10, output_tokens: 0, total_tokens: 10 };
  const error = { code: "server_error", message: "boom" };
  const failed = { type: "response.failed", response: { status: "failed", error, usage } };
  const created = { type: "response.created", response: { status: "in_progress", usage: null } };
  expect(stream("openai-responses", [created]).status).toBe("incomplete");
  expect(stream("openai-responses", [created, failed])).toMatchObject({
    status: "complete",
    error: "server_error: boom",
  });
});

test("what is billed beyond the five buckets is named", () => {
  expect(
    anthropic({
      input_tokens: 1,
      output_tokens: 1,
      server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
      service_tier: "priority",
      inference_geo: "us",
      speed: "fast",
    }).extras,
  ).toEqual(["web_search_requests", "service_tier priority", "inference_geo us", "speed fast"]);
  expect(
    read("openai-responses", {
      object: "response",
      status: "completed",
      service_tier: "flex",
      output: [{ type: "web_search_call" }],
      usage: { input_tokens: 1, output_tokens: 1 },
    }).extras,
  ).toEqual(["service_tier flex", "web_search_call"]);
});
