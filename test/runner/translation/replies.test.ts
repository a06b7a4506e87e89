import { describe, expect, test } from "vitest";
import type { ModelProtocol } from "../../../core/model/exchange.ts";
import { recordOf } from "../../../core/usage/json-view.ts";
import { CallMemory } from "../../../runner/translation/call-memory.ts";
import { readAsAgent, translateReply } from "./translate-reply.ts";

function chunk(delta: unknown, reason: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: reason }];
  return `data: ${JSON.stringify({ id: "c", model: "served", choices })}\n\n`;
}

/** A chat server's stream of these deltas. */
function chat(...deltas: readonly Record<string, unknown>[]): string {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  return (
    deltas.map((delta) => chunk(delta, null)).join("") +
    chunk({}, "stop") +
    `data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`
  );
}

function called(index: number | null, id: string | null, text: string, name?: string) {
  const named = name === undefined ? { arguments: text } : { name, arguments: text };
  const place = index === null ? {} : { index };
  return { tool_calls: [{ ...place, ...(id === null ? {} : { id }), function: named }] };
}

const CHAT_TO_CLAUDE = { from: "openai-completions", to: "anthropic-messages" } as const;

function claudeBlocks(bytes: string, memory = new CallMemory()): unknown[] {
  const { text } = translateReply(bytes, { ...CHAT_TO_CLAUDE, memory });
  const { content } = recordOf(readAsAgent("anthropic-messages", "sse", text).body);
  return Array.isArray(content) ? content : [];
}

describe("parallel calls of a chat server", () => {
  const two = [
    { type: "tool_use", id: "a", name: "one", input: { x: 1 } },
    { type: "tool_use", id: "b", name: "two", input: { y: 2 } },
  ];

  test("whose arguments come mixed are told one after the other, each with its own", () => {
    const bytes = chat(
      called(0, "a", '{"x"', "one"),
      called(1, "b", '{"y"', "two"),
      called(0, null, ":1}"),
      called(1, null, ":2}"),
    );
    expect(claudeBlocks(bytes)).toEqual(two);
    const { text } = translateReply(bytes, CHAT_TO_CLAUDE);
    expect(text).toMatch(/^event: message_start\n/u);
    const open = [...text.matchAll(/^event: content_block_(start|stop)$/gmu)].map(
      ([, kind]) => kind,
    );
    expect(open).toEqual(["start", "stop", "start", "stop"]);
  });

  test.each([
    [
      "without an index",
      [called(null, "a", '{"x":1}', "one"), called(null, "b", '{"y":2}', "two")],
    ],
    ["all under index 0", [called(0, "a", '{"x":1}', "one"), called(0, "b", '{"y":2}', "two")]],
    [
      "in one chunk",
      [
        {
          tool_calls: [
            ...called(0, "a", '{"x":1}', "one").tool_calls,
            ...called(1, "b", '{"y":2}', "two").tool_calls,
          ],
        },
      ],
    ],
  ] as const)("%s are two all the same", (_what, deltas) => {
    expect(claudeBlocks(chat(...deltas))).toEqual(two);
  });

  test("without ids, or with ids of an earlier reply, get ids of their own", () => {
    const memory = new CallMemory();
    const bytes = chat(called(0, "call_0", "", "one"), called(1, "", "", "two"));
    const ids = [claudeBlocks(bytes, memory), claudeBlocks(bytes, memory)]
      .flat()
      .map((block) => recordOf(block)["id"]);
    expect(ids[0]).toBe("call_0");
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) expect(id).toMatch(/^[\w-]+$/u);
  });

  test("and text after them are told in order, and the turn ends in calls whatever the server says", () => {
    const bytes = chat({ content: "before" }, called(0, "a", '{"x":1}', "one"), {
      content: "after",
    });
    expect(claudeBlocks(bytes)).toEqual([
      { type: "text", text: "before" },
      two[0],
      { type: "text", text: "after" },
    ]);
    expect(translateReply(bytes, CHAT_TO_CLAUDE).text).toContain('"stop_reason":"tool_use"');
  });

  test("longer than can be held break the reply off", () => {
    const bytes = chat(called(0, "a", "{", "one"), called(1, "b", "x".repeat(5000), "two"));
    expect(() => translateReply(bytes, { ...CHAT_TO_CLAUDE, maxBytes: 4000 })).toThrow(
      /too long to be|longer than can be held/u,
    );
  });
});

test.each([
  ["reasoning_content", { reasoning_content: "I think" }],
  ["reasoning", { reasoning: "I think" }],
  [
    "a part of its content",
    { content: [{ type: "thinking", thinking: [{ type: "text", text: "I think" }] }] },
  ],
])("thoughts told as %s are a signed thinking block", (_what, delta) => {
  expect(claudeBlocks(chat(delta, { content: "hi" }))).toEqual([
    { type: "thinking", thinking: "I think", signature: expect.stringMatching(/.+/u) },
    { type: "text", text: "hi" },
  ]);
});

describe("why a model stopped", () => {
  const stops = [
    ["stop", "end_turn", "completed", "STOP"],
    ["length", "max_tokens", "incomplete", "MAX_TOKENS"],
    ["content_filter", "refusal", "incomplete", "SAFETY"],
  ] as const;
  test.each(stops)(
    "is %s of a chat server's in each protocol's word",
    (reason, claude, responses, google) => {
      const bytes = chat({ content: "hi" }).replace(
        '"finish_reason":"stop"',
        `"finish_reason":"${reason}"`,
      );
      const told = (to: "anthropic-messages" | "openai-responses" | "gemini"): unknown =>
        readAsAgent(to, "sse", translateReply(bytes, { from: "openai-completions", to }).text).body;
      expect(told("anthropic-messages")).toMatchObject({ stop_reason: claude });
      expect(told("openai-responses")).toMatchObject({ status: responses });
      expect(told("gemini")).toMatchObject({ candidates: [{ finishReason: google }] });
    },
  );

  test.each(["error", "insufficient_system_resource"])("is no answer when it is %s", (reason) => {
    const bytes = chat({ content: "hi" }).replace(
      '"finish_reason":"stop"',
      `"finish_reason":"${reason}"`,
    );
    expect(() => translateReply(bytes, CHAT_TO_CLAUDE)).toThrow(
      `the provider stopped with ${reason}`,
    );
  });
});

function streamed(...said: readonly unknown[]): string {
  return said.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

describe("what of a reply cannot be understood breaks it off", () => {
  const block = { type: "content_block_start", index: 0, content_block: { type: "tool_use" } };
  const item = { type: "function_call", call_id: "a", name: "f", arguments: { x: 1 } };
  const nameless = "the reply has a tool call without a name";
  const shapeless = "the reply has a tool call whose arguments are no text";
  test.each<[string, ModelProtocol, string, string]>([
    ["a call without a name", "openai-completions", chat(called(0, "a", "{}")), nameless],
    ["a call with an empty name", "openai-completions", chat(called(0, "a", "{}", "")), nameless],
    ["a call without a name", "anthropic-messages", streamed(block), nameless],
    [
      "a call without a name",
      "gemini",
      streamed({ candidates: [{ content: { parts: [{ functionCall: { args: {} } }] } }] }),
      nameless,
    ],
    [
      "a call without a name",
      "openai-responses",
      streamed({ type: "response.output_item.added", item: { type: "function_call" } }),
      nameless,
    ],
    [
      "arguments as an object",
      "openai-completions",
      chat({ tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: { x: 1 } } }] }),
      shapeless,
    ],
    [
      "arguments as an object",
      "openai-responses",
      streamed({ type: "response.output_item.done", item }),
      shapeless,
    ],
    [
      "an event that is no JSON",
      "openai-completions",
      `data: {"choices":[{"delta":{"content":"lo\n\n${chat({ content: "st" })}`,
      "an event that is no JSON",
    ],
  ])("%s of %s", (_what, from, bytes, message) => {
    const to = from === "anthropic-messages" ? "openai-completions" : "anthropic-messages";
    expect(() => translateReply(bytes, { from, to })).toThrow(message);
  });
});

test("a Gemini stream without alt=sse is one JSON array", () => {
  const { text } = translateReply(chat({ content: "hi" }), {
    from: "openai-completions",
    to: "gemini",
    asEvents: false,
  });
  const { body } = readAsAgent("gemini", "json", text);
  expect(JSON.parse(text)).toBeInstanceOf(Array);
  expect(body).toMatchObject({ candidates: [{ finishReason: "STOP" }], modelVersion: "asked" });
});

test("a stream of Responses counts its events without a gap, and repeats its items in its end", () => {
  const bytes = chat({ reasoning_content: "hm" }, { content: "hi" }, called(0, "a", "{}", "one"));
  const { text } = translateReply(bytes, { from: "openai-completions", to: "openai-responses" });
  const events = [...text.matchAll(/^data: (.*)$/gmu)].map(([, data]) =>
    recordOf(JSON.parse(data ?? "")),
  );
  expect(events.map((event) => event["sequence_number"])).toEqual(
    events.map((_event, index) => index),
  );
  expect(events[0]?.["type"]).toBe("response.created");
  const done = events.filter(({ type }) => type === "response.output_item.done");
  expect(recordOf(events.at(-1)?.["response"])["output"]).toEqual(done.map(({ item }) => item));
  expect(done.map(({ item }) => recordOf(item)["type"])).toEqual([
    "reasoning",
    "message",
    "function_call",
  ]);
});

test("a custom tool's call is its plain text, and a namespace's tool has its name and namespace back", () => {
  const bytes = chat(
    called(0, "a", '{"input":"*** Begin\\n\\"quoted\\""}', "apply_patch"),
    called(1, "b", '{"id":1}', "agents__close"),
  );
  const tools = new Map([
    ["apply_patch", { name: "apply_patch", namespace: null, isCustom: true }],
    ["agents__close", { name: "close", namespace: "agents", isCustom: false }],
  ]);
  const { text } = translateReply(bytes, {
    from: "openai-completions",
    to: "openai-responses",
    tools,
  });
  expect(readAsAgent("openai-responses", "sse", text).body).toMatchObject({
    output: [
      { type: "custom_tool_call", call_id: "a", name: "apply_patch", input: '*** Begin\n"quoted"' },
      {
        type: "function_call",
        call_id: "b",
        name: "close",
        namespace: "agents",
        arguments: '{"id":1}',
      },
    ],
  });
});
