import { newId, nowSec, pieces } from "./scripted-reply.ts";
import type { RenderedReply, ReplyCall, ScriptedReply, StreamEvent } from "./scripted-reply.ts";

/** OpenAI Chat Completions; the usage chunk only for requests that ask for it. */
export function renderCompletions(reply: ScriptedReply, includeUsage: boolean): RenderedReply {
  const base = { id: newId("chatcmpl-"), created: nowSec(), model: reply.model };
  const finishReason = reply.stop ?? (reply.calls.length > 0 ? "tool_calls" : "stop");
  const calls = reply.calls.map((call) => ({ id: newId("call_"), call }));
  const chunk = (choices: unknown[], usage: unknown = null): StreamEvent => ({
    name: null,
    data: {
      ...base,
      object: "chat.completion.chunk",
      choices,
      ...(includeUsage ? { usage } : {}),
    },
  });
  const delta = (fields: Record<string, unknown>, reason: string | null = null): StreamEvent =>
    chunk([{ index: 0, delta: fields, logprobs: null, finish_reason: reason }]);
  return {
    body: {
      ...base,
      object: "chat.completion",
      choices: [{ index: 0, message: messageOf(reply, calls), finish_reason: finishReason }],
      usage: reply.usage,
    },
    events: [
      delta({ role: "assistant", content: "" }),
      ...(reply.reasoning === null ? [] : [delta({ reasoning_content: reply.reasoning })]),
      ...pieces(reply.text ?? "").map((content) => delta({ content })),
      ...calls.flatMap(({ id, call }, index) => callDeltas(id, call, index).map((d) => delta(d))),
      delta({}, finishReason),
      ...(includeUsage ? [chunk([], reply.usage)] : []),
      { name: null, data: "[DONE]" },
    ],
  };
}

function messageOf(
  reply: ScriptedReply,
  calls: readonly { readonly id: string; readonly call: ReplyCall }[],
): Record<string, unknown> {
  return {
    role: "assistant",
    content: reply.text,
    ...(reply.reasoning === null ? {} : { reasoning_content: reply.reasoning }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, call }) => ({
            id,
            type: "function",
            function: { name: call.tool.name, arguments: JSON.stringify(call.args) },
          })),
        }),
  };
}

function callDeltas(id: string, call: ReplyCall, index: number): Record<string, unknown>[] {
  const opening = {
    index,
    id,
    type: "function",
    function: { name: call.tool.name, arguments: "" },
  };
  return [
    { tool_calls: [opening] },
    ...pieces(JSON.stringify(call.args)).map((part) => ({
      tool_calls: [{ index, function: { arguments: part } }],
    })),
  ];
}
