import { sse } from "../proxy/assemble/reply-assembler.ts";
import type { AgentReplyFacts, ReplyEnd, ReplyStream } from "./agent-reply.ts";
import type { ReplyBlock } from "./block-collector.ts";
import { argumentsObject } from "./call-arguments.ts";
import type { BlockHead, StopKind } from "./reply-piece.ts";
import { toldUsage } from "./told-usage.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Clients want a thought to be signed; the provider's own proof, if any, stays with the proxy. */
const SIGNATURE = "YmVuY2hmbG93";

const STOPS: Readonly<Record<StopKind, string>> = {
  turn: "end_turn",
  calls: "tool_use",
  length: "max_tokens",
  "stop-sequence": "stop_sequence",
  refusal: "refusal",
};

/** A reply as Anthropic's stream; what it used is told at its end, since it is not known before. */
export class AnthropicStream implements ReplyStream {
  readonly #facts: AgentReplyFacts;
  #index = -1;
  #kind: BlockHead["kind"] = "text";

  constructor(facts: AgentReplyFacts) {
    this.#facts = facts;
  }

  begin(): string {
    const usage = { input_tokens: 0, output_tokens: 0 };
    return event("message_start", {
      message: {
        ...headOf(this.#facts),
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
    });
  }

  open(head: BlockHead): string {
    this.#index += 1;
    this.#kind = head.kind;
    return event("content_block_start", { index: this.#index, content_block: startOf(head) });
  }

  add(text: string): string {
    return this.#delta(deltaOf(this.#kind, text));
  }

  close(): string {
    const isThought = this.#kind === "thought";
    const signed = isThought ? { type: "signature_delta", signature: SIGNATURE } : null;
    const stop = event("content_block_stop", { index: this.#index });
    return (signed === null ? "" : this.#delta(signed)) + stop;
  }

  end(end: ReplyEnd): string {
    const delta = { stop_reason: STOPS[end.stop], stop_sequence: end.stopSequence };
    const usage = toldUsage("anthropic-messages", end.reading) ?? { output_tokens: 0 };
    return event("message_delta", { delta, usage }) + event("message_stop", {});
  }

  #delta(delta: Fields): string {
    return event("content_block_delta", { index: this.#index, delta });
  }
}

export function wholeAnthropic(
  facts: AgentReplyFacts,
  { blocks, end }: { readonly blocks: readonly ReplyBlock[]; readonly end: ReplyEnd },
): Fields {
  return {
    ...headOf(facts),
    content: blocks.map(wholeBlock),
    stop_reason: STOPS[end.stop],
    stop_sequence: end.stopSequence,
    usage: toldUsage("anthropic-messages", end.reading) ?? { input_tokens: 0, output_tokens: 0 },
  };
}

function event(type: string, fields: Fields): string {
  return sse(type, { type, ...fields });
}

function headOf({ id, model }: AgentReplyFacts): Fields {
  return { id: `msg_${id}`, type: "message", role: "assistant", model };
}

function startOf(head: BlockHead): Fields {
  switch (head.kind) {
    case "text":
      return { type: "text", text: "" };
    case "thought":
      return { type: "thinking", thinking: "", signature: "" };
    case "call":
      return { type: "tool_use", id: head.id, name: head.name, input: {} };
  }
}

function deltaOf(kind: BlockHead["kind"], text: string): Fields {
  switch (kind) {
    case "text":
      return { type: "text_delta", text };
    case "thought":
      return { type: "thinking_delta", thinking: text };
    case "call":
      return { type: "input_json_delta", partial_json: text };
  }
}

function wholeBlock({ head, text }: ReplyBlock): Fields {
  switch (head.kind) {
    case "text":
      return { type: "text", text };
    case "thought":
      return { type: "thinking", thinking: text, signature: SIGNATURE };
    case "call":
      return { type: "tool_use", id: head.id, name: head.name, input: argumentsObject(text) };
  }
}
