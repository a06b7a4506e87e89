import { randomUUID } from "node:crypto";
import type { ModelProtocol } from "../../core/model/exchange.ts";

export interface EndTurnRequest {
  readonly protocol: ModelProtocol;
  /** The name that the agent used. */
  readonly model: string;
  readonly stream: boolean;
  /** Gemini alone: whether a stream is events (`alt=sse`) or one array. */
  readonly asEvents: boolean;
  readonly text: string;
}

export interface EndTurnReply {
  readonly contentType: string;
  readonly body: string;
}

/**
 * A reply of a model that has finished its turn. The only refusal that stopped every agent at once,
 * with one refused request, no retry and no error to classify (notes/agents 6); it uses no tokens. The
 * agent then reports `end_turn`, so whoever runs it must take the reason from the proxy's record.
 */
export function endTurnReply(request: EndTurnRequest): EndTurnReply {
  const id = randomUUID().replaceAll("-", "").slice(0, 24);
  switch (request.protocol) {
    case "anthropic-messages":
      return anthropicReply(request, `msg_${id}`);
    case "openai-completions":
      return completionsReply(request, `chatcmpl-${id}`);
    case "openai-responses":
      return responsesReply(request, id);
    case "gemini":
      return geminiReply(request, id);
  }
}

interface Named {
  readonly type: string;
}

function json(body: unknown): EndTurnReply {
  return { contentType: "application/json", body: JSON.stringify(body) };
}

function events(list: readonly (Named | string | object)[]): EndTurnReply {
  const lines = list.map((event) => {
    const name = typeof event === "object" && "type" in event ? `event: ${event.type}\n` : "";
    const data = typeof event === "string" ? event : JSON.stringify(event);
    return `${name}data: ${data}\n\n`;
  });
  return { contentType: "text/event-stream", body: lines.join("") };
}

function anthropicReply({ model, stream, text }: EndTurnRequest, id: string): EndTurnReply {
  const message = {
    id,
    type: "message",
    role: "assistant",
    model,
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 0, output_tokens: 0 },
  };
  if (!stream) return json(message);
  return events([
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: 0 },
    },
    { type: "message_stop" },
  ]);
}

function completionsReply({ model, stream, text }: EndTurnRequest, id: string): EndTurnReply {
  const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  const base = { id, created: nowSec(), model };
  const message = { role: "assistant", content: text };
  if (!stream) {
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    return json({ ...base, object: "chat.completion", choices, usage });
  }
  const chunk = { ...base, object: "chat.completion.chunk" };
  return events([
    { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    { ...chunk, choices: [], usage },
    "[DONE]",
  ]);
}

function responsesReply({ model, stream, text }: EndTurnRequest, id: string): EndTurnReply {
  const part = { type: "output_text", text, annotations: [] };
  const item = {
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    status: "completed",
    content: [part],
  };
  const response = {
    id: `resp_${id}`,
    object: "response",
    created_at: nowSec(),
    status: "completed",
    model,
    output: [item],
    error: null,
    incomplete_details: null,
    usage: {
      input_tokens: 0,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 0,
    },
  };
  if (!stream) return json(response);
  const opened = { ...response, status: "in_progress", output: [], usage: null };
  const at = { item_id: item.id, output_index: 0, content_index: 0 };
  const list = [
    { type: "response.created", response: opened },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...item, status: "in_progress", content: [] },
    },
    { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
    { type: "response.output_text.delta", ...at, delta: text },
    { type: "response.output_text.done", ...at, text },
    { type: "response.content_part.done", ...at, part },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response },
  ];
  return events(list.map((event, index) => Object.assign(event, { sequence_number: index })));
}

function geminiReply(request: EndTurnRequest, id: string): EndTurnReply {
  const chunk = {
    candidates: [
      {
        content: { role: "model", parts: [{ text: request.text }] },
        index: 0,
        finishReason: "STOP",
      },
    ],
    usageMetadata: { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 },
    modelVersion: request.model,
    responseId: id,
  };
  if (!request.stream) return json(chunk);
  return request.asEvents ? events([chunk]) : json([chunk]);
}

function nowSec(): number {
  return Math.floor(Date.now() / 1000);
}
