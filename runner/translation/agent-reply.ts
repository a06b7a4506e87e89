import { randomUUID } from "node:crypto";
import type { ModelProtocol } from "../../core/model/exchange.ts";
import type { UsageReading } from "../../core/model/usage-reading.ts";
import type { BlockWriter, StopKind } from "./reply-piece.ts";
import { AnthropicStream, wholeAnthropic } from "./write-anthropic-reply.ts";
import { CompletionsStream, wholeCompletions } from "./write-completions-reply.ts";
import { GeminiStream, wholeGemini } from "./write-gemini-reply.ts";
import { ResponsesStream, wholeResponses } from "./write-responses-reply.ts";
import type { KnownTool } from "./responses-tools.ts";
import type { ReplyBlock } from "./block-collector.ts";

/** How a reply ended, and what it used. */
export interface ReplyEnd {
  readonly stop: StopKind;
  readonly stopSequence: string | null;
  readonly reading: UsageReading;
}

/** What the agent wants its reply to look like. */
export interface AgentReplyFacts {
  /** Without the protocol's own prefix. */
  readonly id: string;
  /** The name that the agent asked for. */
  readonly model: string;
  readonly createdSec: number;
  /** Responses alone: how the agent knows the tools. */
  readonly tools: ReadonlyMap<string, KnownTool>;
  /** Gemini alone: whether a stream is events or one array. */
  readonly asEvents: boolean;
}

/** A reply to the agent as a stream: its first event, its blocks, its end. */
export interface ReplyStream extends BlockWriter {
  begin(): string;
  end(end: ReplyEnd): string;
}

export function replyFacts(
  asked: Pick<AgentReplyFacts, "model" | "tools" | "asEvents">,
): AgentReplyFacts {
  const id = randomUUID().replaceAll("-", "").slice(0, 24);
  return { ...asked, id, createdSec: Math.floor(Date.now() / 1000) };
}

export function replyStream(protocol: ModelProtocol, facts: AgentReplyFacts): ReplyStream {
  switch (protocol) {
    case "anthropic-messages":
      return new AnthropicStream(facts);
    case "openai-completions":
      return new CompletionsStream(facts);
    case "openai-responses":
      return new ResponsesStream(facts);
    case "gemini":
      return new GeminiStream(facts);
  }
}

/** The same reply as one body. */
export function wholeReply(
  protocol: ModelProtocol,
  facts: AgentReplyFacts,
  reply: { readonly blocks: readonly ReplyBlock[]; readonly end: ReplyEnd },
): Readonly<Record<string, unknown>> {
  switch (protocol) {
    case "anthropic-messages":
      return wholeAnthropic(facts, reply);
    case "openai-completions":
      return wholeCompletions(facts, reply);
    case "openai-responses":
      return wholeResponses(facts, reply);
    case "gemini":
      return wholeGemini(facts, reply);
  }
}
