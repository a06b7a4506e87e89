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
