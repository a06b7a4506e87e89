import type { ModelProtocol } from "../../../core/model/exchange.ts";
import type { UsageReading } from "../../../core/model/usage-reading.ts";
import { UsageMeter } from "../../../core/usage/usage-meter.ts";
import { replyAssembler } from "../../../runner/proxy/assemble/assemble-reply.ts";
import { KeepBudget } from "../../../runner/proxy/assemble/kept-text.ts";
import { CallMemory } from "../../../runner/translation/call-memory.ts";
import { ReplyTranslator } from "../../../runner/translation/reply-translator.ts";
import type { ReplyTranslation } from "../../../runner/translation/reply-translator.ts";
import { bytesOf, cutAt } from "../../core/usage/rendered-replies.ts";

/** Protocols that agents speak, and those of providers that are translated for them. */
export const PAIRS: readonly { readonly from: ModelProtocol; readonly to: ModelProtocol }[] = [
  { from: "openai-completions", to: "anthropic-messages" },
  { from: "openai-completions", to: "openai-responses" },
  { from: "openai-completions", to: "gemini" },
  { from: "anthropic-messages", to: "openai-completions" },
  { from: "anthropic-messages", to: "openai-responses" },
  { from: "anthropic-messages", to: "gemini" },
  { from: "gemini", to: "anthropic-messages" },
  { from: "gemini", to: "openai-completions" },
  { from: "gemini", to: "openai-responses" },
  { from: "openai-responses", to: "anthropic-messages" },
  { from: "openai-responses", to: "openai-completions" },
  { from: "openai-responses", to: "gemini" },
];

/** A provider's bytes as the agent gets them, and what was measured of them before. */
export function translateReply(
  bytes: string,
  options: Pick<ReplyTranslation, "from" | "to"> & Partial<ReplyTranslation>,
  cuts: readonly number[] = [],
): { readonly text: string; readonly reading: UsageReading } {
  const framing = options.framing ?? "sse";
  const meter = new UsageMeter(options.from, framing);
  const translator = new ReplyTranslator({
    framing,
    stream: true,
    asEvents: true,
    model: "asked",
    tools: new Map(),
    memory: new CallMemory(),
    maxBytes: 1_000_000,
    ...options,
  });
  let text = "";
  for (const chunk of cutAt(bytesOf(bytes), cuts)) {
    meter.push(chunk);
    text += translator.push(chunk);
  }
  const reading = meter.end();
  return { text: text + translator.end(reading), reading };
}

/** What an agent reads of a reply: its body as a whole, and the usage that it tells. */
export function readAsAgent(
  protocol: ModelProtocol,
  framing: "sse" | "json",
  text: string,
): { readonly body: unknown; readonly reading: UsageReading } {
  const assembler = replyAssembler(protocol, new KeepBudget(10_000_000));
  const meter = new UsageMeter(protocol, framing, { onEvent: (event) => assembler.read(event) });
  meter.push(bytesOf(text));
  const reading = meter.end();
  return { body: assembler.body(), reading };
}

/** A reply without what differs between two translations of it. */
export function withoutIds(text: string): string {
  return text
    .replaceAll(/(?<=[_"-])[0-9a-f]{24}/gu, "ID")
    .replaceAll(/"created(?:_at)?":\d+/gu, '"created":0');
}
