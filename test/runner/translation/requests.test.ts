import { describe, expect, test } from "vitest";
import { listOf, recordOf } from "../../../core/usage/json-view.ts";
import { CallMemory } from "../../../runner/translation/call-memory.ts";
import { type Body, messagesOf, recorded, translated } from "./translated-request.ts";

describe("a request as an agent sends it", () => {
  test("of Claude Code is one of Chat Completions with the same words, calls and results", () => {
    const { body, leftOut } = translated(
      "anthropic-messages",
      "openai-completions",
      recorded("claude"),
    );
    expect(body).toEqual(recorded("claude-as-chat"));
    expect(leftOut).toEqual(["cache_control", "context_management", "metadata"]);
  });

  test("of Claude Code is one of Responses that leaves nothing with the provider", () => {
    const wish = { model: "gpt-5.5" };
    const { body } = translated("anthropic-messages", "openai-responses", recorded("claude"), wish);
    expect(body).toEqual(recorded("claude-as-responses"));
  });

  test("of Codex is one of Chat Completions, its namespaced and custom tools as functions", () => {
    const { body, leftOut, tools } = translated(
      "openai-responses",
      "openai-completions",
      recorded("codex"),
    );
    expect(body).toEqual(recorded("codex-as-chat"));
    expect(leftOut).toEqual(["client_metadata", "prompt_cache_key", "tool web_search"]);
    expect(tools.get("multi_agent__close")).toEqual({
      name: "close",
      namespace: "multi_agent",
      isCustom: false,
    });
    expect(tools.get("apply_patch")).toMatchObject({ isCustom: true });
  });

  test("of Codex is one of Messages, cached up to its end", () => {
    const { body } = translated("openai-responses", "anthropic-messages", recorded("codex"), {
      model: "claude-sonnet-4-6",
    });
    expect(body).toEqual(recorded("codex-as-messages"));
  });

  test("of Gemini CLI is one of Chat Completions, calls without an id matched to their results", () => {
    const { body, leftOut } = translated("gemini", "openai-completions", recorded("gemini"));
    expect(body).toEqual(recorded("gemini-as-chat"));
    expect(leftOut).toEqual(["safetySettings", "top_k"]);
  });

  test("of a chat agent is one of Gemini", () => {
    const { body } = translated("openai-completions", "gemini", recorded("chat"), {
      model: "gemini-3-pro",
    });
    expect(body).toEqual(recorded("chat-as-gemini"));
  });
});

function use(id: string): Body {
  return { type: "tool_use", id, name: "f", input: { x: 1 } };
}

function shown(id: string, text: string): Body {
  return {
    type: "tool_result",
    tool_use_id: id,
    content: [
      { type: "text", text },
      { type: "image", source: IMAGE },
    ],
  };
}

const IMAGE = { type: "base64", media_type: "image/png", data: "aWNvbg==" };

test("pictures of tools' results follow them as the user's where a tool's message holds text alone", () => {
  const body = {
    messages: [
      { role: "user", content: "look" },
      { role: "assistant", content: [use("a"), use("b")] },
      {
        role: "user",
        content: [{ type: "text", text: "now?" }, shown("a", "one"), shown("b", "two")],
      },
    ],
  };
  const url = "data:image/png;base64,aWNvbg==";
  const note = "\n[1 image(s) of this result follow]";
  expect(messagesOf(translated("anthropic-messages", "openai-completions", body))).toMatchObject([
    { role: "user", content: "look" },
    { role: "assistant", tool_calls: [{ id: "a" }, { id: "b" }] },
    { role: "tool", tool_call_id: "a", content: `one${note}` },
    { role: "tool", tool_call_id: "b", content: `two${note}` },
    {
      role: "user",
      content: [
        { type: "text", text: "[image of the result of a]" },
        { type: "image_url", image_url: { url } },
        { type: "text", text: "[image of the result of b]" },
        { type: "image_url", image_url: { url } },
      ],
    },
    { role: "user", content: "now?" },
  ]);
  expect(messagesOf(translated("anthropic-messages", "gemini", body))).toMatchObject([
    { role: "user" },
    { role: "model", parts: [{ functionCall: { id: "a" } }, { functionCall: { id: "b" } }] },
    {
      role: "user",
      parts: [
        { functionResponse: { id: "a", name: "f", response: { output: "one" } } },
        { inlineData: { mimeType: "image/png", data: "aWNvbg==" } },
        { functionResponse: { id: "b" } },
        { inlineData: {} },
      ],
    },
    { role: "user", parts: [{ text: "now?" }] },
  ]);
});

describe("a choice of tools", () => {
  const tools = [{ name: "a", input_schema: { type: "object" } }];
  const withChoice = (choice: Body): Body => ({ tools, tool_choice: choice });
  test.each([
    [{ type: "auto" }, "auto", { mode: "AUTO" }],
    [{ type: "any" }, "required", { mode: "ANY" }],
    [{ type: "none" }, "none", { mode: "NONE" }],
    [
      { type: "tool", name: "a" },
      { type: "function", function: { name: "a" } },
      { mode: "ANY", allowedFunctionNames: ["a"] },
    ],
  ])("%j is the same elsewhere", (choice, chat, google) => {
    const asked = withChoice(choice);
    const asChat = translated("anthropic-messages", "openai-completions", asked);
    expect(asChat.body["tool_choice"]).toEqual(chat);
    const asGemini = translated("anthropic-messages", "gemini", asked);
    expect(asGemini.body["toolConfig"]).toEqual({ functionCallingConfig: google });
    const back = translated("openai-completions", "anthropic-messages", { ...asChat.body });
    expect(back.body["tool_choice"]).toEqual(choice);
  });

  test("of one call at a time is told where there is a word for it", () => {
    const asked = withChoice({ type: "auto", disable_parallel_tool_use: true });
    const chat = translated("anthropic-messages", "openai-completions", asked);
    expect(chat.body["parallel_tool_calls"]).toBe(false);
    expect(translated("anthropic-messages", "gemini", asked).leftOut).toEqual([
      "one call at a time",
    ]);
    expect(
      translated("openai-completions", "anthropic-messages", { ...chat.body }).body["tool_choice"],
    ).toEqual({ type: "auto", disable_parallel_tool_use: true });
  });

  test("of Gemini's that allows some tools offers no others", () => {
    const asked = {
      tools: [{ functionDeclarations: [{ name: "a" }, { name: "b" }, { name: "c" }] }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["a", "c"] } },
    };
    const { body } = translated("gemini", "openai-completions", asked);
    expect(
      listOf(body["tools"]).map((tool) => recordOf(recordOf(tool)["function"])["name"]),
    ).toEqual(["a", "c"]);
    expect(body["tool_choice"]).toBe("required");
  });
});

test("a call goes back to Gemini with its signature, one that is not known with Google's word for that", () => {
  const memory = new CallMemory();
  memory.keep("a", { thoughts: [], seal: "c2ln" });
  const asked = {
    messages: [
      { role: "assistant", content: [use("a"), use("b")] },
      { role: "assistant", content: [use("c")] },
    ],
  };
  const known = translated(
    "anthropic-messages",
    "gemini",
    { messages: asked.messages.slice(0, 1) },
    { memory },
  );
  expect(messagesOf(known)).toEqual([
    {
      role: "model",
      parts: [
        { functionCall: { id: "a", name: "f", args: { x: 1 } }, thoughtSignature: "c2ln" },
        { functionCall: { id: "b", name: "f", args: { x: 1 } } },
      ],
    },
  ]);
  const unknown = translated(
    "anthropic-messages",
    "gemini",
    { messages: asked.messages.slice(1) },
    { memory },
  );
  expect(messagesOf(unknown)).toMatchObject([
    { parts: [{ thoughtSignature: "skip_thought_signature_validator" }] },
  ]);
});
