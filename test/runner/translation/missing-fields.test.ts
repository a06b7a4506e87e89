import { describe, expect, test } from "vitest";
import type { ModelProtocol } from "../../../core/model/exchange.ts";
import { type Body, refusal, translated } from "./translated-request.ts";

function user(block: Body): Body {
  return { messages: [{ role: "user", content: [block] }] };
}

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

test("a result whose call is not in the request is refused toward Gemini, which wants its name", () => {
  const result = { type: "tool_result", tool_use_id: "a", content: "x" };
  const made = {
    role: "assistant",
    content: [{ type: "tool_use", id: "a", name: "f", input: {} }],
  };
  expect(refusal("anthropic-messages", "gemini", user(result))).toBe(
    "a tool result whose call is not in the request cannot be put into gemini",
  );
  const { body } = translated("anthropic-messages", "gemini", {
    messages: [made, { role: "user", content: [result] }],
  });
  expect(JSON.stringify(body["contents"])).toContain('"functionResponse":{"id":"a","name":"f"');
});
