import { newId, pieces } from "./scripted-reply.ts";
import type { RenderedReply, ScriptedReply, StreamEvent } from "./scripted-reply.ts";

interface Block {
  readonly start: Record<string, unknown>;
  readonly whole: Record<string, unknown>;
  readonly deltas: readonly Record<string, unknown>[];
}

/** Anthropic Messages: message_start, one block after the other, message_delta, message_stop. */
export function renderAnthropic(reply: ScriptedReply): RenderedReply {
  const blocks = blocksOf(reply);
  const stopReason = reply.stop ?? (reply.calls.length > 0 ? "tool_use" : "end_turn");
  const message = {
    id: newId("msg_"),
    type: "message",
    role: "assistant",
    model: reply.model,
    content: blocks.map((block) => block.whole),
    stop_reason: stopReason,
    stop_sequence: null,
    usage: reply.usage,
  };
  const started = {
    ...message,
    content: [],
    stop_reason: null,
    usage: { ...reply.usage, output_tokens: 1 },
  };
  const { service_tier: _tier, ...finalUsage } = reply.usage;
  return {
    body: message,
    events: [
      named("message_start", { message: started }),
      named("ping", {}),
      ...blocks.flatMap(blockEvents),
      named("message_delta", {
        delta: { stop_reason: stopReason, stop_sequence: null },
        usage: finalUsage,
      }),
      named("message_stop", {}),
    ],
  };
}

function named(type: string, fields: Record<string, unknown>): StreamEvent {
  return { name: type, data: { type, ...fields } };
}

function blocksOf(reply: ScriptedReply): Block[] {
  const blocks: Block[] = [];
  if (reply.reasoning !== null)
    blocks.push({
      start: { type: "thinking", thinking: "", signature: "" },
      whole: { type: "thinking", thinking: reply.reasoning, signature: "c2lnbmVk" },
      deltas: [
        { type: "thinking_delta", thinking: reply.reasoning },
        { type: "signature_delta", signature: "c2lnbmVk" },
      ],
    });
  if (reply.text !== null)
    blocks.push({
      start: { type: "text", text: "" },
      whole: { type: "text", text: reply.text },
      deltas: pieces(reply.text).map((text) => ({ type: "text_delta", text })),
    });
  for (const call of reply.calls) {
    const id = newId("toolu_");
    blocks.push({
      start: { type: "tool_use", id, name: call.tool.name, input: {} },
      whole: { type: "tool_use", id, name: call.tool.name, input: call.args },
      deltas: pieces(JSON.stringify(call.args)).map((json) => ({
        type: "input_json_delta",
        partial_json: json,
      })),
    });
  }
  return blocks;
}

function blockEvents(block: Block, index: number): StreamEvent[] {
  return [
    named("content_block_start", { index, content_block: block.start }),
    ...block.deltas.map((delta) => named("content_block_delta", { index, delta })),
    named("content_block_stop", { index }),
  ];
}
