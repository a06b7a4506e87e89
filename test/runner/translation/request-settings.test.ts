import { describe, expect, test } from "vitest";
import { CallMemory } from "../../../runner/translation/call-memory.ts";
import { messagesOf, translated } from "./translated-request.ts";

describe("sampling and effort", () => {
  const GEMINI_CLI = {
    generationConfig: { temperature: 1, topP: 0.95, topK: 64, maxOutputTokens: 9 },
  };

  test("have the provider's own name for the limit of the answer", () => {
    const { body } = translated("gemini", "openai-completions", GEMINI_CLI, {
      outputLimitField: "max_completion_tokens",
    });
    expect(body).toMatchObject({ temperature: 1, top_p: 0.95, max_completion_tokens: 9 });
    expect(body).not.toHaveProperty("max_tokens");
  });

  test.each([
    ["claude-haiku-4-5", { top_p: 0.95, top_k: 64 }, []],
    ["claude-opus-4-7", {}, ["top_k", "top_p"]],
  ])("are what %s takes of them", (model, kept, left) => {
    const { body, leftOut } = translated("gemini", "anthropic-messages", GEMINI_CLI, { model });
    const { temperature, top_p: topP, top_k: topK } = body;
    expect({ temperature, top_p: topP, top_k: topK }).toEqual({
      temperature: undefined,
      ...kept,
      ...(left.length > 0 ? { top_p: undefined, top_k: undefined } : {}),
    });
    expect(leftOut).toEqual(left);
  });

  test("a limit that the agent does not name is sent where the protocol wants one", () => {
    const { body } = translated("openai-responses", "anthropic-messages", { input: "hi" });
    expect(body["max_tokens"]).toBe(32_000);
  });

  test.each([
    ["claude-sonnet-4-6", { thinking: { type: "adaptive" }, output_config: { effort: "high" } }],
    ["claude-haiku-4-5", { thinking: { type: "enabled", budget_tokens: 16_384 } }],
    ["claude-3-7-sonnet-20250219", { thinking: { type: "enabled", budget_tokens: 16_384 } }],
  ])("an effort is told as %s takes it", (model, fields) => {
    const asked = { input: "hi", reasoning: { effort: "high" } };
    const { body } = translated("openai-responses", "anthropic-messages", asked, { model });
    expect(body).toMatchObject(fields);
    expect(body["output_config"]).toEqual(
      "output_config" in fields ? fields.output_config : undefined,
    );
  });

  test.each([
    ["gemini-2.5-pro", "high", { includeThoughts: true, thinkingBudget: 24_576 }],
    ["gemini-3-pro", "xhigh", { includeThoughts: true, thinkingLevel: "high" }],
  ])("an effort is told as %s takes it, %s", (model, effort, thinkingConfig) => {
    const asked = { messages: [{ role: "user", content: "hi" }], reasoning_effort: effort };
    const { body } = translated("openai-completions", "gemini", asked, { model });
    expect(body["generationConfig"]).toEqual({ thinkingConfig });
  });

  test.each([
    ["openai-completions", "gpt-5.5", { reasoning_effort: "high" }, ["top_k", "top_p"]],
    [
      "openai-responses",
      "gpt-5.5",
      { reasoning: { effort: "high", summary: "auto" } },
      ["top_k", "top_p"],
    ],
    ["openai-completions", "gpt-4.1", { temperature: 1, top_p: 0.95 }, ["effort", "top_k"]],
    ["openai-responses", "gpt-4.1", { temperature: 1, top_p: 0.95 }, ["effort", "top_k"]],
    ["openai-completions", "openai/o4-mini", { reasoning_effort: "high" }, ["top_k", "top_p"]],
    [
      "openai-completions",
      "qwen3-max",
      { reasoning_effort: "high", temperature: 1, top_p: 0.95 },
      ["top_k"],
    ],
  ] as const)("%s has of both what %s takes", (to, model, kept, left) => {
    const thinkingConfig = { thinkingLevel: "HIGH" };
    const asked = { generationConfig: { ...GEMINI_CLI.generationConfig, thinkingConfig } };
    const { body, leftOut } = translated("gemini", to, asked, { model });
    const fields = new Set(["temperature", "top_p", "reasoning", "reasoning_effort"]);
    const sent = Object.entries(body).filter(([name]) => fields.has(name));
    expect(Object.fromEntries(sent)).toEqual(kept);
    expect(leftOut).toEqual(left);
  });

  test("thinking goes on in a loop of tools only with the thoughts of its turn", () => {
    const asked = {
      reasoning_effort: "high",
      messages: [
        { role: "user", content: "hi" },
        {
          role: "assistant",
          content: null,
          reasoning_content: "hm",
          tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "a", content: "done" },
      ],
    };
    const wish = { model: "claude-haiku-4-5" };
    const without = translated("openai-completions", "anthropic-messages", asked, wish);
    expect(without.body).not.toHaveProperty("thinking");
    expect(without.leftOut).toEqual(["thinking"]);
    const memory = new CallMemory();
    const thought = { kind: "thought", text: "hm", seal: "c2ln", isHidden: false } as const;
    const hidden = { kind: "thought", text: "", seal: "aGlk", isHidden: true } as const;
    memory.keep("a", { thoughts: [thought, hidden], seal: null });
    const kept = translated("openai-completions", "anthropic-messages", asked, { ...wish, memory });
    expect(kept.body).toHaveProperty("thinking");
    expect(messagesOf(kept)).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "c2ln" },
          { type: "redacted_thinking", data: "aGlk" },
          { type: "tool_use", id: "a" },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a" }] },
    ]);
  });
});

test("an answer's schema is carried, Gemini's own kind as JSON Schema", () => {
  const schema = {
    type: "OBJECT",
    properties: {
      type: { type: "STRING", nullable: true },
      list: { type: "ARRAY", items: { type: "INTEGER" } },
    },
  };
  const asked = {
    generationConfig: { responseMimeType: "application/json", responseSchema: schema },
  };
  const plain = {
    type: "object",
    properties: {
      type: { type: ["string", "null"] },
      list: { type: "array", items: { type: "integer" } },
    },
  };
  expect(translated("gemini", "openai-completions", asked).body["response_format"]).toEqual({
    type: "json_schema",
    json_schema: { name: "answer", schema: plain },
  });
  expect(translated("gemini", "anthropic-messages", asked).body["output_config"]).toEqual({
    format: { type: "json_schema", schema: plain },
  });
});
