import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ModelProtocol } from "../../../core/model/exchange.ts";
import { listOf, recordOf } from "../../../core/usage/json-view.ts";
import { type Body, outcome, refusal, translated } from "./translated-request.ts";

function user(block: Body): Body {
  return { messages: [{ role: "user", content: [block] }] };
}

describe("what cannot be carried is refused by its name", () => {
  const pdf = { type: "base64", media_type: "application/pdf", data: "" };
  test.each([
    [user({ type: "document", source: pdf }), "a document of type application/pdf"],
    [
      user({ type: "image", source: { type: "file", file_id: "f" } }),
      "an image from a source of type file",
    ],
    [
      { tools: [{ type: "web_search_20250305", name: "web_search" }] },
      "a tool of type web_search_20250305",
    ],
  ])("Messages %#", (body, what) => {
    expect(refusal("anthropic-messages", "openai-completions", body)).toBe(
      `${what} cannot be put into openai-completions`,
    );
  });

  test.each([
    [{ previous_response_id: "resp_1" }, "the field previous_response_id"],
    [{ input: [{ type: "item_reference", id: "x" }] }, "an item of type item_reference"],
    [
      { input: [{ role: "user", content: [{ type: "input_file", file_id: "f" }] }] },
      "a part of type input_file",
    ],
    [
      { input: [{ role: "user", content: [{ type: "input_image", file_id: "f" }] }] },
      "a picture by its file id",
    ],
    [{ tools: [{ type: "web_search" }] }, "a tool of type web_search"],
  ])("Responses %#", (body, what) => {
    expect(refusal("openai-responses", "anthropic-messages", body)).toBe(
      `${what} cannot be put into anthropic-messages`,
    );
  });

  test.each([
    [{ n: 2 }, "more than one answer (n)"],
    [{ functions: [{ name: "f" }] }, "the field functions"],
    [{ response_format: { type: "json_object" } }, "an answer of any JSON"],
    [
      { messages: [{ role: "user", content: [{ type: "input_audio" }] }] },
      "a part of type input_audio",
    ],
  ])("Chat Completions %#", (body, what) => {
    expect(refusal("openai-completions", "anthropic-messages", body)).toBe(
      `${what} cannot be put into anthropic-messages`,
    );
  });

  test.each([
    [{ cachedContent: "c" }, "the field cachedContent"],
    [{ generationConfig: { candidateCount: 2 } }, "more than one answer (candidateCount)"],
    [{ tools: [{ googleSearch: {} }] }, "a tool of type googleSearch"],
    [
      { contents: [{ role: "user", parts: [{ fileData: { fileUri: "u" } }] }] },
      "a part with fileData",
    ],
    [
      { contents: [{ parts: [{ inlineData: { mimeType: "audio/wav", data: "" } }] }] },
      "data of type audio/wav",
    ],
  ])("Gemini %#", (body, what) => {
    expect(refusal("gemini", "openai-completions", body)).toBe(
      `${what} cannot be put into openai-completions`,
    );
  });
});

const named = { name: "f", arguments: "{}" };

function assistant(block: Body): Body {
  return { messages: [{ role: "assistant", content: [block] }] };
}

function call(fields: Body): Body {
  return { messages: [{ role: "assistant", tool_calls: [fields] }] };
}

function model(part: Body): Body {
  return { contents: [{ role: "model", parts: [part] }] };
}

describe("what lacks a name, an id or its text is refused, not sent on with an empty one", () => {
  test.each<[ModelProtocol, Body, string]>([
    ["anthropic-messages", assistant({ type: "tool_use", name: "f" }), "a tool call without an id"],
    ["anthropic-messages", assistant({ type: "tool_use", id: "a" }), "a tool call without a name"],
    [
      "anthropic-messages",
      user({ type: "tool_result", content: "x" }),
      "a tool result without a tool_use_id",
    ],
    ["anthropic-messages", user({ type: "text", text: 1 }), "a text block without text"],
    ["anthropic-messages", { tools: [{ input_schema: {} }] }, "a tool without a name"],
    ["anthropic-messages", { tool_choice: { type: "tool" } }, "a tool choice without a name"],
    ["anthropic-messages", { tool_choice: { type: "one" } }, "a tool choice of type one"],
    ["anthropic-messages", { messages: [{ content: "x" }] }, "a message of role undefined"],
    ["openai-completions", call({ function: named }), "a tool call without an id"],
    ["openai-completions", call({ id: "", function: named }), "a tool call without an id"],
    [
      "openai-completions",
      call({ id: "a", type: "function", function: {} }),
      "a tool call of type function without a function's name",
    ],
    [
      "openai-completions",
      call({ id: "a", function: { name: "f", arguments: { x: 1 } } }),
      "a tool call whose arguments are no text",
    ],
    [
      "openai-completions",
      { messages: [{ role: "tool", content: "x" }] },
      "a tool result without a tool_call_id",
    ],
    ["openai-completions", user({ type: "text" }), "a text part without text"],
    ["openai-completions", user({ type: "image_url" }), "a picture without a url"],
    ["openai-completions", { tools: [{ type: "function" }] }, "a tool without a name"],
    [
      "openai-responses",
      { input: [{ type: "function_call", ...named }] },
      "a tool call without a call_id",
    ],
    [
      "openai-responses",
      { input: [{ type: "custom_tool_call", call_id: "a", input: "x" }] },
      "a tool call without a name",
    ],
    [
      "openai-responses",
      { input: [{ type: "function_call", call_id: "a", name: "f", arguments: {} }] },
      "a tool call whose arguments are no text",
    ],
    [
      "openai-responses",
      { input: [{ type: "function_call_output", output: "x" }] },
      "a tool result without a call_id",
    ],
    ["openai-responses", { instructions: ["x"] }, "instructions that are no text"],
    ["openai-responses", { tools: [{ type: "function" }] }, "a tool without a name"],
    ["openai-responses", { tools: [{ type: "namespace" }] }, "a tool without a name"],
    ["gemini", model({ functionCall: { id: "a" } }), "a tool call without a name"],
    [
      "gemini",
      { contents: [{ role: "user", parts: [{ functionResponse: {} }] }] },
      "a tool result without a name",
    ],
    ["gemini", { tools: [{ functionDeclarations: [{}] }] }, "a tool without a name"],
    [
      "gemini",
      { systemInstruction: { parts: [{ inlineData: {} }] } },
      "a part without text in a system prompt",
    ],
  ])("%s %#", (from, body, what) => {
    const to = from === "openai-completions" ? "anthropic-messages" : "openai-completions";
    expect(refusal(from, to, body)).toBe(`${what} cannot be put into ${to}`);
  });

  test("a call of Gemini's needs no id, empty or absent: its name and place stand for it", () => {
    const parts = [{ functionCall: { name: "f", id: "" } }, { functionCall: { name: "f" } }];
    const { body } = translated("gemini", "openai-completions", {
      contents: [{ role: "model", parts }],
    });
    expect(body["messages"]).toMatchObject([{ tool_calls: [{ id: "call_1" }, { id: "call_2" }] }]);
  });
});

test("a stop sequence is refused where a provider has none", () => {
  expect(refusal("anthropic-messages", "openai-responses", { stop_sequences: ["END"] })).toBe(
    "a stop sequence cannot be put into openai-responses",
  );
});

test("a tool that the provider runs is left out beside the agent's own, and told", () => {
  const body = { tools: [{ googleSearch: {} }, { functionDeclarations: [{ name: "f" }] }] };
  const result = translated("gemini", "openai-completions", body);
  expect(listOf(result.body["tools"])).toHaveLength(1);
  expect(result.leftOut).toEqual(["tool googleSearch"]);
});

const item = fc.oneof(
  fc.record({
    type: fc.constant("message"),
    role: fc.constantFrom("user", "assistant", "developer"),
    content: fc.constant("x"),
  }),
  fc.record({
    type: fc.constant("function_call"),
    call_id: fc.constantFrom("a", "b"),
    name: fc.constant("f"),
    arguments: fc.constantFrom("{}", "no json", ""),
  }),
  fc.record({
    type: fc.constant("function_call_output"),
    call_id: fc.constantFrom("a", "b"),
    output: fc.constant("x"),
  }),
  fc.record({
    type: fc.constant("reasoning"),
    summary: fc.constant([{ type: "summary_text", text: "x" }]),
  }),
);

test("results of tools come right after the turn that called them, in whatever order an agent sends them", () => {
  fc.assert(
    fc.property(fc.array(item, { maxLength: 12 }), (input) => {
      const { body } = translated("openai-responses", "openai-completions", { input });
      const roles = listOf(body["messages"]).map((message) => recordOf(message)["role"]);
      // Results without any turn before them have nothing to follow.
      const called = roles.includes("assistant") ? roles.indexOf("assistant") : roles.length;
      const before = roles.filter((_role, at) => at > called && roles[at + 1] === "tool");
      expect(before.filter((role) => role !== "tool" && role !== "assistant")).toEqual([]);
      const results = input.filter(({ type }) => type === "function_call_output");
      expect(roles.filter((role) => role === "tool")).toHaveLength(results.length);
    }),
  );
});

test("no request, however odd, makes a translation throw", () => {
  fc.assert(
    fc.property(
      fc.constantFrom<ModelProtocol>(
        "anthropic-messages",
        "openai-completions",
        "openai-responses",
        "gemini",
      ),
      fc.constantFrom<ModelProtocol>(
        "anthropic-messages",
        "openai-completions",
        "openai-responses",
        "gemini",
      ),
      fc.dictionary(
        fc.constantFrom(
          "messages",
          "input",
          "contents",
          "tools",
          "system",
          "tool_choice",
          "reasoning",
          "thinking",
          "generationConfig",
          "text",
          "output_config",
        ),
        fc.jsonValue({ maxDepth: 4 }),
      ),
      (from, to, body) => {
        expect(outcome(from, to, body)).toBeDefined();
      },
    ),
  );
});
