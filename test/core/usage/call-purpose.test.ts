import { expect, test } from "vitest";
import type { ModelProtocol } from "../../../core/model/exchange.ts";
import { callPurpose } from "../../../core/usage/call-purpose.ts";
import { inspectRequest } from "../../../core/usage/inspect-request.ts";

const TITLE_SCHEMA = { type: "object", properties: { title: { type: "string" } } };
const TOOLS = [{ name: "Bash", input_schema: {} }];
const CHAT_TOOLS = [{ type: "function", function: { name: "bash" } }];
const SUGGESTION =
  "[SUGGESTION MODE: Suggest what the user might naturally type next into Claude Code.]";
const user = (content: unknown): unknown => ({ role: "user", content });
const system = (content: unknown): unknown => ({ role: "system", content });

function purpose(protocol: ModelProtocol, body: Record<string, unknown>): string {
  return callPurpose(inspectRequest(protocol, body, { model: "m", stream: true }));
}

// As the agents send them (notes/agents 4); the words were read in their programs.
test.each<[string, string, ModelProtocol, Record<string, unknown>]>([
  [
    "claude's title",
    "title",
    "anthropic-messages",
    {
      output_config: { format: { type: "json_schema", schema: TITLE_SCHEMA } },
      messages: [user("<session>fix it</session>")],
    },
  ],
  [
    "codex' title",
    "title",
    "openai-responses",
    {
      tools: [{ type: "function", name: "exec_command" }],
      text: { format: { type: "json_schema", schema: TITLE_SCHEMA } },
    },
  ],
  [
    "opencode's title",
    "title",
    "openai-completions",
    { messages: [system("You are a title generator. You output ONLY a thread title.")] },
  ],
  [
    "claude's suggestion",
    "suggestion",
    "anthropic-messages",
    { tools: TOOLS, messages: [user("fix it"), user([{ type: "text", text: SUGGESTION }])] },
  ],
  [
    "qwen's suggestion",
    "suggestion",
    "openai-completions",
    { tools: CHAT_TOOLS, messages: [user("fix it"), user(SUGGESTION)] },
  ],
  [
    "claude's classifier",
    "classifier",
    "anthropic-messages",
    {
      system: [
        { type: "text", text: "x-header" },
        { type: "text", text: "You are a security monitor for autonomous AI coding agents.\n" },
      ],
      messages: [user("ls")],
    },
  ],
  [
    "qwen's classifier",
    "classifier",
    "openai-completions",
    {
      messages: [
        system("You are a security classifier for an AI coding agent operating in auto mode."),
      ],
    },
  ],
  [
    "qwen's memory",
    "memory",
    "openai-completions",
    {
      tools: CHAT_TOOLS,
      messages: [system("You are now acting as the managed memory extraction subagent for an AI")],
    },
  ],
  ["claude's probe", "probe", "anthropic-messages", { max_tokens: 1, messages: [user("hi")] }],
  ["plain work", "main", "anthropic-messages", { tools: TOOLS, messages: [user("fix it")] }],
  ["work of an agent without tools", "main", "openai-completions", { messages: [user("fix it")] }],
  [
    "work in Gemini's protocol",
    "main",
    "gemini",
    { contents: [{ role: "user", parts: [{ text: "x" }] }] },
  ],
])("%s is %s", (_what, expected, protocol, body) => {
  expect(purpose(protocol, body)).toBe(expected);
});

test("a task that only talks about titles, suggestions and classifiers is main work", () => {
  const texts = [
    `Write a parser for the line ${SUGGESTION}`,
    "Here is my prompt: You are a title generator. Improve it.",
  ];
  for (const text of texts)
    expect(purpose("anthropic-messages", { tools: TOOLS, messages: [user(text)] })).toBe("main");
  const prompt = "You are a title generator. Improve this prompt.";
  expect(purpose("anthropic-messages", { tools: TOOLS, messages: [user(prompt)] })).toBe("main");
  const schema = { type: "object", properties: { title: {}, body: {} } };
  const format = { format: { type: "json_schema", schema } };
  expect(purpose("openai-responses", { text: format, input: "a post" })).toBe("main");
});
