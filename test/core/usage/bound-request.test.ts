import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ModelProtocol } from "../../../core/model/exchange.ts";
import { boundRequest } from "../../../core/usage/bound-request.ts";
import type { ModelLimits, RequestBound } from "../../../core/usage/bound-request.ts";
import { inspectRequest } from "../../../core/usage/inspect-request.ts";
import type { RequestFacts } from "../../../core/usage/request-facts.ts";
import { PROTOCOLS } from "./rendered-replies.ts";

const PATH = { model: "m", stream: true };
const NO_LIMITS: ModelLimits = { contextTokens: null, maxOutputTokens: null };
type Body = Record<string, unknown>;

function facts(protocol: ModelProtocol, body: Body): RequestFacts {
  return inspectRequest(protocol, body, PATH);
}

function bound(protocol: ModelProtocol, body: Body, limits = NO_LIMITS): RequestBound {
  const bodyBytes = JSON.stringify(body).length;
  return boundRequest(protocol, { facts: facts(protocol, body), bodyBytes }, limits);
}

const claude: Body = {
  model: "claude-sonnet-5",
  max_tokens: 64_000,
  stream: true,
  thinking: { type: "adaptive" },
  output_config: { effort: "high" },
  context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
  system: [{ type: "text", text: "You are Claude Code." }],
  messages: [
    { role: "user", content: "hi" },
    { role: "assistant", content: [{ type: "tool_use", id: "t", name: "Bash", input: {} }] },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "ok" }] }],
    },
  ],
  tools: [
    { name: "Bash", input_schema: {} },
    { type: "custom", name: "Edit" },
  ],
};

const codex: Body = {
  model: "gpt-5.5",
  instructions: "You are Codex.",
  input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }],
  tools: [
    { type: "function", name: "exec_command" },
    { type: "custom", name: "apply_patch" },
    { type: "namespace", name: "multi_agent", tools: [{ type: "function", name: "spawn" }] },
    { type: "tool_search", execution: "client", description: "d", parameters: {} },
  ],
  reasoning: { effort: "medium", summary: "auto" },
  store: false,
  parallel_tool_calls: true,
  include: ["reasoning.encrypted_content"],
  prompt_cache_key: "k",
  stream: true,
};

const pi: Body = {
  model: "m",
  max_completion_tokens: 32_000,
  store: false,
  stream: true,
  stream_options: { include_usage: true },
  messages: [
    { role: "system", content: "You are an expert." },
    { role: "user", content: [{ type: "text", text: "hi" }] },
  ],
  tools: [{ type: "function", function: { name: "bash" } }],
};

const gemini: Body = {
  contents: [{ role: "user", parts: [{ text: "hi" }] }],
  systemInstruction: { parts: [{ text: "You are Gemini CLI." }] },
  generationConfig: {
    temperature: 1,
    topP: 0.95,
    topK: 64,
    thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 },
  },
  tools: [{ functionDeclarations: [{ name: "run_shell_command" }, { name: "read_file" }] }],
};

test("what the agents send by default is bounded, and its sampling is read as sent", () => {
  expect(facts("anthropic-messages", claude)).toMatchObject({
    unbounded: [],
    tools: 2,
    messages: 3,
    sampling: { max_tokens: 64_000, temperature: null, reasoning: "high" },
  });
  expect(facts("openai-responses", codex)).toMatchObject({
    unbounded: [],
    tools: 4,
    outputLimit: null,
    sampling: { max_tokens: null, reasoning: "medium" },
  });
  expect(facts("openai-completions", pi)).toMatchObject({
    unbounded: [],
    tools: 1,
    sampling: { max_tokens: 32_000 },
  });
  expect(facts("gemini", gemini)).toMatchObject({
    unbounded: [],
    tools: 2,
    model: "m",
    stream: true,
    sampling: { temperature: 1, top_p: 0.95, top_k: 64, reasoning: 8192 },
  });
});

test("the prompt is bounded by its bytes, the answers by their limit times their number", () => {
  const body = { ...pi, n: 3 };
  const { tokens, unbounded } = bound("openai-completions", body);
  expect(unbounded).toEqual([]);
  expect(tokens.input).toBe(JSON.stringify(body).length + 2048);
  expect(tokens.output).toBe(96_000);
});

test("an agent that sends no limit is bounded by the model's documented one, or not at all", () => {
  const limits = { contextTokens: 1_000_000, maxOutputTokens: 128_000 };
  expect(bound("openai-responses", codex, limits).tokens.output).toBe(128_000);
  expect(bound("openai-responses", codex).unbounded).toEqual(["output without a limit"]);
  expect(bound("openai-completions", { ...pi, max_completion_tokens: -1 }).unbounded).toEqual([
    "output without a limit",
  ]);
});

test("a picture counts as a picture, not by its bytes; a long context ends the bound", () => {
  const picture = { type: "base64", media_type: "image/png", data: "A".repeat(4_000_000) };
  const content = [
    { type: "tool_result", tool_use_id: "t", content: [{ type: "image", source: picture }] },
  ];
  const body = { ...claude, messages: [{ role: "user", content }] };
  const { input } = bound("anthropic-messages", body).tokens;
  expect(input).toBeGreaterThan(8_192);
  expect(input).toBeLessThan(12_000);
  const long = { ...pi, messages: [{ role: "user", content: "x".repeat(2_000_000) }] };
  const limits = { contextTokens: 200_000, maxOutputTokens: null };
  expect(bound("openai-completions", long, limits).tokens.input).toBe(200_000);
});

test.each<[string, ModelProtocol, Body]>([
  ["tool web_search_20250305", "anthropic-messages", { tools: [{ type: "web_search_20250305" }] }],
  ["mcp_servers", "anthropic-messages", { mcp_servers: [{ url: "https://x" }] }],
  ['service_tier "priority"', "anthropic-messages", { service_tier: "priority" }],
  ['speed "fast"', "anthropic-messages", { speed: "fast" }],
  ["container", "anthropic-messages", { container: "c_1" }],
  [
    "edit compact_20260112",
    "anthropic-messages",
    { context_management: { edits: [{ type: "compact_20260112" }] } },
  ],
  [
    "block document",
    "anthropic-messages",
    {
      messages: [
        { role: "user", content: [{ type: "document", source: { type: "base64", data: "" } }] },
      ],
    },
  ],
  [
    "block image",
    "anthropic-messages",
    {
      messages: [
        { role: "user", content: [{ type: "image", source: { type: "file", file_id: "f" } }] },
      ],
    },
  ],
  ["previous_response_id", "openai-responses", { previous_response_id: "resp_1" }],
  ["conversation", "openai-responses", { conversation: "c" }],
  ["background", "openai-responses", { background: true }],
  ["prompt", "openai-responses", { prompt: { id: "p" } }],
  ["tool web_search", "openai-responses", { tools: [{ type: "web_search" }] }],
  ["tool tool_search", "openai-responses", { tools: [{ type: "tool_search" }] }],
  [
    "tool code_interpreter",
    "openai-responses",
    { tools: [{ type: "namespace", tools: [{ type: "code_interpreter" }] }] },
  ],
  [
    "part input_file",
    "openai-responses",
    { input: [{ role: "user", content: [{ type: "input_file", file_id: "f" }] }] },
  ],
  ["item_reference", "openai-responses", { input: [{ type: "item_reference", id: "i" }] }],
  ['service_tier "flex"', "openai-responses", { service_tier: "flex" }],
  ["web_search_options", "openai-completions", { web_search_options: {} }],
  ['modality "audio"', "openai-completions", { modalities: ["text", "audio"] }],
  [
    'part "file"',
    "openai-completions",
    { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "f" } }] }] },
  ],
  ["plugins", "openai-completions", { plugins: [{ id: "web" }] }],
  ["prediction", "openai-completions", { prediction: { type: "content", content: "x" } }],
  ["best_of", "openai-completions", { best_of: 50 }],
  ["n", "openai-completions", { n: "3" }],
  ["max_tokens", "openai-completions", { max_tokens: "90000", max_completion_tokens: 10 }],
  ["candidateCount", "gemini", { generationConfig: { candidateCount: "8" } }],
  [
    "max_output_tokens",
    "gemini",
    { generationConfig: { maxOutputTokens: 10, max_output_tokens: 90_000 } },
  ],
  ["cachedContent", "gemini", { cachedContent: "cachedContents/1" }],
  ["tool googleSearch", "gemini", { tools: [{ googleSearch: {} }] }],
  ["part fileData", "gemini", { contents: [{ parts: [{ fileData: { fileUri: "u" } }] }] }],
  [
    "data application/pdf",
    "gemini",
    { contents: [{ parts: [{ inlineData: { mimeType: "application/pdf", data: "" } }] }] },
  ],
  ["modality AUDIO", "gemini", { generationConfig: { responseModalities: ["AUDIO"] } }],
])("%s makes the cost of a %s request unbounded", (reason, protocol, body) => {
  expect(facts(protocol, body).unbounded).toContain(reason);
});

test("other models that a gateway might fall back to are named", () => {
  expect(facts("openai-completions", { models: ["a", "b"] }).otherModels).toEqual(["a", "b"]);
  expect(facts("anthropic-messages", { fallbacks: [{ model: "c" }] }).otherModels).toEqual(["c"]);
});

test("whatever a body holds, it is inspected without throwing and bounded by a count", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PROTOCOLS),
      fc.dictionary(
        fc.constantFrom(
          "messages",
          "input",
          "contents",
          "tools",
          "system",
          "generationConfig",
          "max_tokens",
          "n",
          "stream",
          "text",
          "output_config",
        ),
        fc.jsonValue(),
      ),
      (protocol, body) => {
        const { tokens } = bound(protocol, body);
        expect(Number.isInteger(tokens.input) && tokens.input >= 0).toBe(true);
        expect(Number.isInteger(tokens.output) && tokens.output >= 0).toBe(true);
      },
    ),
  );
});
