import { describe, expect, test } from "vitest";
import { recordOf } from "../../../core/usage/json-view.ts";
import { CallMemory } from "../../../runner/translation/call-memory.ts";
import { readAsAgent, translateReply } from "./translate-reply.ts";
import { translated } from "./translated-request.ts";

/** A stream of Responses out of its events. */
function responses(...events: readonly Record<string, unknown>[]): string {
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  const response = { object: "response", model: "served", status: "completed", usage };
  const all = [...events, { type: "response.completed", response }];
  return all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

function added(index: number, id: string): Record<string, unknown> {
  return {
    type: "response.output_item.added",
    output_index: index,
    item: { type: "function_call", call_id: id, name: `f${String(index)}`, arguments: "" },
  };
}

function delta(index: number, text: string): Record<string, unknown> {
  return {
    type: "response.function_call_arguments.delta",
    output_index: index,
    delta: text,
  };
}

function done(index: number): Record<string, unknown> {
  return {
    type: "response.output_item.done",
    output_index: index,
    item: { type: "function_call" },
  };
}

function blocks(bytes: string): unknown {
  const to = "anthropic-messages";
  const { text } = translateReply(bytes, { from: "openai-responses", to });
  return recordOf(readAsAgent(to, "sse", text).body)["content"];
}

describe("a stream of Responses", () => {
  test("whose calls go on beside each other tells each whole, in their order", () => {
    const bytes = responses(
      added(0, "a"),
      delta(0, '{"x"'),
      added(1, "b"),
      delta(1, '{"y"'),
      added(2, "c"),
      delta(2, '{"z":3}'),
      done(2),
      delta(0, ":1}"),
      done(0),
      delta(1, ":2}"),
      done(1),
    );
    expect(blocks(bytes)).toMatchObject([
      { id: "a", name: "f0", input: { x: 1 } },
      { id: "b", name: "f1", input: { y: 2 } },
      { id: "c", name: "f2", input: { z: 3 } },
    ]);
  });

  test("that tells a call's arguments at its end alone has them all the same", () => {
    const item = { type: "function_call", call_id: "a", name: "f0", arguments: '{"x":1}' };
    const end = { type: "response.output_item.done", output_index: 0, item };
    expect(blocks(responses(added(0, "a"), end))).toMatchObject([{ id: "a", input: { x: 1 } }]);
  });

  test("gives its sealed thoughts back to the provider as they came", () => {
    const item = {
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "hm" }],
      encrypted_content: "c2VhbGVk",
    };
    const thought = [
      { type: "response.reasoning_summary_text.delta", output_index: 0, delta: "hm" },
      { type: "response.output_item.done", output_index: 0, item },
    ];
    const memory = new CallMemory();
    const bytes = responses(...thought, added(1, "a"), delta(1, "{}"), done(1));
    translateReply(bytes, { from: "openai-responses", to: "openai-completions", memory });
    const call = { id: "a", function: { name: "f1", arguments: "{}" } };
    const messages = [{ role: "assistant", content: "so", tool_calls: [call] }];
    const sent = translated("openai-completions", "openai-responses", { messages }, { memory });
    expect(sent.body["input"]).toMatchObject([
      item,
      { type: "message", role: "assistant" },
      { type: "function_call", call_id: "a" },
    ]);
  });
});
