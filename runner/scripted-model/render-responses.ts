import { newId, nowSec, pieces } from "./scripted-reply.ts";
import type { RenderedReply, ReplyCall, ScriptedReply, StreamEvent } from "./scripted-reply.ts";

interface Item {
  readonly whole: Record<string, unknown>;
  readonly opened: Record<string, unknown>;
  /** What the stream says between the item's beginning and its end. */
  readonly events: (at: { item_id: string; output_index: number }) => StreamFields[];
}

type StreamFields = { readonly type: string } & Record<string, unknown>;

/** OpenAI Responses: items one after the other, numbered events, the whole reply again at the end. */
export function renderResponses(reply: ScriptedReply): RenderedReply {
  const items = itemsOf(reply);
  const status = reply.stop === "max_output_tokens" ? "incomplete" : "completed";
  const opened = {
    id: newId("resp_"),
    object: "response",
    created_at: nowSec(),
    status: "in_progress",
    model: reply.model,
    output: [],
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    error: null,
    incomplete_details: null,
    usage: null,
  };
  const done = {
    ...opened,
    status,
    output: items.map((item) => item.whole),
    incomplete_details: status === "incomplete" ? { reason: reply.stop } : null,
    usage: reply.usage,
  };
  const fields: StreamFields[] = [
    { type: "response.created", response: opened },
    { type: "response.in_progress", response: opened },
    ...items.flatMap(itemEvents),
    { type: `response.${status}`, response: done },
  ];
  const events = fields.map(({ type, ...rest }, index): StreamEvent => ({
    name: type,
    data: { type, sequence_number: index, ...rest },
  }));
  return { body: done, events };
}

function itemEvents(item: Item, index: number): StreamFields[] {
  const at = { item_id: String(item.whole["id"]), output_index: index };
  return [
    { type: "response.output_item.added", output_index: index, item: item.opened },
    ...item.events(at),
    { type: "response.output_item.done", output_index: index, item: item.whole },
  ];
}

function itemsOf(reply: ScriptedReply): Item[] {
  return [
    ...(reply.reasoning === null ? [] : [reasoningItem(reply.reasoning)]),
    ...(reply.text === null ? [] : [messageItem(reply.text)]),
    ...reply.calls.map(callItem),
  ];
}

function reasoningItem(text: string): Item {
  const part = { type: "summary_text", text };
  const whole = {
    id: newId("rs_"),
    type: "reasoning",
    summary: [part],
    encrypted_content: "c2VhbGVk",
  };
  return {
    whole,
    opened: { ...whole, summary: [] },
    events: (at) => {
      const where = { ...at, summary_index: 0 };
      return [
        {
          type: "response.reasoning_summary_part.added",
          ...where,
          part: { ...part, text: "" },
        },
        { type: "response.reasoning_summary_text.delta", ...where, delta: text },
        { type: "response.reasoning_summary_text.done", ...where, text },
        { type: "response.reasoning_summary_part.done", ...where, part },
      ];
    },
  };
}

function messageItem(text: string): Item {
  const part = { type: "output_text", text, annotations: [] };
  const whole = {
    id: newId("msg_"),
    type: "message",
    role: "assistant",
    status: "completed",
    content: [part],
  };
  return {
    whole,
    opened: { ...whole, status: "in_progress", content: [] },
    events: (at) => {
      const where = { ...at, content_index: 0 };
      return [
        { type: "response.content_part.added", ...where, part: { ...part, text: "" } },
        ...deltas("response.output_text.delta", where, text),
        { type: "response.output_text.done", ...where, text },
        { type: "response.content_part.done", ...where, part },
      ];
    },
  };
}

function callItem(call: ReplyCall): Item {
  const base = { call_id: newId("call_"), status: "completed" };
  if (call.tool.type === "local_shell") {
    const action = { type: "exec", command: call.args["command"], env: {} };
    const whole = { id: newId("lsh_"), type: "local_shell_call", ...base, action };
    return { whole, opened: whole, events: () => [] };
  }
  const json = JSON.stringify(call.args);
  if (call.tool.type === "custom") {
    const input = typeof call.args["input"] === "string" ? call.args["input"] : json;
    const whole = {
      id: newId("ctc_"),
      type: "custom_tool_call",
      ...base,
      name: call.tool.name,
      input,
    };
    return { whole, opened: { ...whole, status: "in_progress", input: "" }, events: () => [] };
  }
  const whole = {
    id: newId("fc_"),
    type: "function_call",
    ...base,
    name: call.tool.name,
    arguments: json,
  };
  return {
    whole,
    opened: { ...whole, status: "in_progress", arguments: "" },
    events: (at) => [
      ...deltas("response.function_call_arguments.delta", at, json),
      { type: "response.function_call_arguments.done", ...at, arguments: json },
    ],
  };
}

function deltas(type: string, where: Record<string, unknown>, text: string): StreamFields[] {
  const events: StreamFields[] = [];
  for (const delta of pieces(text)) events.push({ type, ...where, delta });
  return events;
}
