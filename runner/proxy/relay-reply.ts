import { UpstreamError } from "../../core/ports/model-upstream.ts";
import type { UpstreamReply } from "../../core/ports/model-upstream.ts";
import { parseJson } from "../../core/usage/json-view.ts";
import { UsageMeter } from "../../core/usage/usage-meter.ts";
import { ReplyTranslator } from "../translation/reply-translator.ts";
import type { AgentResponse } from "./agent-response.ts";
import { replyAssembler } from "./assemble/assemble-reply.ts";
import { KeepBudget } from "./assemble/kept-text.ts";
import type { ReplyAssembler } from "./assemble/reply-assembler.ts";
import { CallStop } from "./call-guard.ts";
import type { CallGuard } from "./call-guard.ts";
import type { CallRecord } from "./call-record.ts";
import { agentHeaders } from "./header-lists.ts";
import type { PreparedCall } from "./prepare-call.ts";
import type { ProxyContext } from "./proxy-context.ts";
import { ModelRenamer, RenameError, renameModel } from "./rename-model.ts";

export interface RelayedCall {
  readonly call: PreparedCall;
  readonly record: CallRecord;
  readonly agent: AgentResponse;
  readonly guard: CallGuard;
  /** Of the agent's request. */
  readonly query: ReadonlyMap<string, string>;
  /** The most output tokens that were reserved; the stream is ended there. */
  readonly outputCap: number | null;
}

/** How a reply's bytes went: what was seen of the model's output, and why they ended, if not by themselves. */
export interface Relayed {
  readonly outputChars: number;
  readonly failure: unknown;
}

/**
 * No text has fewer tokens than this, not even the emptiest code; beyond it a provider has ignored the
 * limit that was sent. A tighter figure would cut honest answers.
 */
const MAX_CHARS_PER_TOKEN = 16;

/**
 * Passes a good reply on to the agent, byte for byte as it comes and no faster than the agent reads,
 * while the same bytes are metered and put together for the record. The model's name is told as the
 * agent asked for it. Never rejects: what went wrong is in the result.
 */
export async function relayReply(
  context: ProxyContext,
  relayed: RelayedCall,
  reply: UpstreamReply,
): Promise<Relayed> {
  const pump = new ReplyPump(context, relayed, reply);
  try {
    for await (const chunk of reply.body) {
      await pump.take(chunk);
      if (pump.isCapped) break;
    }
    await pump.finish();
    return pump.result(null);
  } catch (thrown) {
    return pump.result(thrown);
  }
}

/** Thrown for a stream whose bytes ended although its answer had not. */
class UnfinishedReply extends Error {}

class ReplyPump {
  readonly #relayed: RelayedCall;
  readonly #reply: UpstreamReply;
  readonly #clock: ProxyContext["clock"];
  readonly #redactor: ProxyContext["redactor"];
  readonly #isStream: boolean;
  readonly #meter: UsageMeter;
  readonly #assembler: ReplyAssembler;
  readonly #budget: KeepBudget;
  /** Only where the agent's name for the model is not the provider's. */
  readonly #renamer: ModelRenamer | null;
  /** Only where the provider speaks another protocol than the agent. */
  readonly #translator: ReplyTranslator | null;
  readonly #held: Uint8Array[] = [];
  #heldBytes = 0;
  readonly #maxEventBytes: number;
  #isOver = false;
  isCapped = false;

  constructor(context: ProxyContext, relayed: RelayedCall, reply: UpstreamReply) {
    const { call } = relayed;
    this.#relayed = relayed;
    this.#reply = reply;
    this.#clock = context.clock;
    this.#redactor = context.redactor;
    this.#maxEventBytes = context.limits.maxEventBytes;
    this.#isStream = isEventStream(reply, call);
    this.#budget = new KeepBudget(context.limits.maxRecordChars);
    this.#assembler = replyAssembler(call.sentProtocol, this.#budget);
    this.#meter = new UsageMeter(call.sentProtocol, this.#isStream ? "sse" : "json", {
      maxEventBytes: this.#maxEventBytes,
      onEvent: (event) => this.#assembler.read(event),
    });
    const isRenamed = call.translation === null && call.modelAsked !== call.modelSent;
    this.#renamer = isRenamed
      ? new ModelRenamer(call.protocol, call.modelAsked, this.#maxEventBytes)
      : null;
    this.#translator = replyTranslator(context, relayed, this.#isStream);
  }

  async take(chunk: Uint8Array): Promise<void> {
    const { agent, guard, record } = this.#relayed;
    // While the agent reads, nothing is awaited of the provider.
    guard.pause();
    record.responseBytes += chunk.length;
    if (this.#translator !== null) await this.#translate(chunk, this.#translator);
    else if (this.#renamer === null) await this.#pass(chunk);
    else {
      if (this.#isStream) await this.#write(this.#renamer.push(chunk));
      else this.#hold(chunk);
      this.#meter.push(chunk);
      this.isCapped = this.#isOverCap();
    }
    guard.signal.throwIfAborted();
    if (agent.isGone) throw new CallStop("gone");
    if (!this.isCapped) guard.awaitMore();
  }

  /**
   * Passes bytes on before they are read for usage, unless the output may reach its cap within them.
   * A stream that is over is passed on up to the end of an event, since an agent cannot read half of
   * one.
   */
  async #pass(chunk: Uint8Array): Promise<void> {
    const { record } = this.#relayed;
    const isFarFromCap = !this.#isOver && !this.#mayReachCap(chunk.length);
    if (isFarFromCap) await this.#write(chunk);
    this.#meter.push(chunk);
    this.#isOver ||= this.#isOverCap();
    const chunkStart = record.responseBytes - chunk.length;
    const boundary = this.#meter.eventBoundary - chunkStart;
    if (isFarFromCap) {
      this.isCapped = this.#isOver && boundary === chunk.length;
      return;
    }
    this.isCapped = this.#isOver && boundary > 0;
    await this.#write(this.isCapped ? chunk.subarray(0, boundary) : chunk);
  }

  /** What is measured are the provider's own bytes. */
  async #translate(chunk: Uint8Array, translator: ReplyTranslator): Promise<void> {
    this.#meter.push(chunk);
    const { agent } = this.#relayed;
    const text = translator.push(chunk);
    // Events that say nothing to the agent still show it that the provider works.
    const isWaiting = text === "" && agent.isCommitted && translator.isEventStream;
    await this.#write(isWaiting ? ":\n\n" : text);
    this.isCapped = this.#isOverCap();
  }

  async finish(): Promise<void> {
    const { agent, guard, record, call } = this.#relayed;
    guard.pause();
    const capped = this.isCapped ? this.#assembler.cappedEnding(this.#meter.outputSoFar) : null;
    if (capped !== null) record.end = "capped";
    else if (this.#isUnfinished()) throw new UnfinishedReply("the answer has no end");
    if (this.#translator !== null)
      await this.#write(this.#translator.end(this.#meter.end(), capped));
    else if (capped !== null) await this.#write(capped);
    else if (this.#renamer !== null && this.#isStream) await this.#write(this.#renamer.end());
    else if (this.#renamer !== null) {
      const text = Buffer.concat(this.#held).toString("utf8");
      const isJson = parseJson(text) !== undefined;
      await this.#write(isJson ? renameModel(text, call.protocol, call.modelAsked) : text);
    }
    this.#head();
    agent.end();
  }

  result(failure: unknown): Relayed {
    const { record } = this.#relayed;
    record.reading = this.#meter.end();
    record.responseBody = this.#assembler.body();
    record.responseDroppedChars = this.#budget.droppedChars;
    return { outputChars: this.#assembler.visibleChars, failure };
  }

  #head(): void {
    const { agent, record } = this.#relayed;
    if (agent.isCommitted) return;
    const headers = agentHeaders(this.#reply.headers, this.#redactor);
    if (this.#translator !== null) headers["content-type"] = this.#translator.contentType;
    agent.head(this.#reply.status, headers);
    record.ttfbMs = this.#clock.monotonicMs() - record.startMs;
  }

  async #write(bytes: Uint8Array | string): Promise<void> {
    if (bytes.length === 0) return;
    this.#head();
    await this.#relayed.agent.write(bytes);
  }

  #hold(chunk: Uint8Array): void {
    this.#heldBytes += chunk.length;
    if (this.#heldBytes > this.#maxEventBytes)
      throw new RenameError("an answer too long to be read");
    this.#held.push(chunk);
  }

  /**
   * A connection that is closed cleanly in the middle of an answer (a gateway's restart does that) is as
   * good as cut: agents must not take the part for the whole, nor the trial's record for an answer.
   */
  #isUnfinished(): boolean {
    if (!this.#isStream || this.#assembler.visibleChars === 0) return false;
    const { error } = this.#meter.end();
    return error === null && !this.#meter.hasEnded;
  }

  #mayReachCap(chars: number): boolean {
    const { outputCap } = this.#relayed;
    if (outputCap === null || !this.#isStream) return false;
    return this.#assembler.visibleChars + chars > outputCap * MAX_CHARS_PER_TOKEN;
  }

  #isOverCap(): boolean {
    const { outputCap } = this.#relayed;
    if (outputCap === null || !this.#isStream) return false;
    const isOver =
      this.#meter.outputSoFar > outputCap ||
      this.#assembler.visibleChars > outputCap * MAX_CHARS_PER_TOKEN;
    return isOver && !this.#meter.isFinal;
  }
}

function replyTranslator(
  { callMemory, limits }: ProxyContext,
  { call, query }: RelayedCall,
  isStream: boolean,
): ReplyTranslator | null {
  const { translation, sentProtocol } = call;
  if (translation === null) return null;
  return new ReplyTranslator({
    from: sentProtocol,
    to: call.protocol,
    framing: isStream ? "sse" : "json",
    stream: call.facts.stream,
    asEvents: query.get("alt") === "sse",
    model: call.modelAsked,
    tools: translation.tools,
    memory: callMemory,
    maxBytes: limits.maxEventBytes,
  });
}

/** Some servers name no type, or a wrong one, for the stream that was asked for. */
function isEventStream({ headers }: UpstreamReply, { facts }: PreparedCall): boolean {
  const type = headers["content-type"] ?? "";
  if (type.includes("text/event-stream")) return true;
  return facts.stream && !type.includes("json");
}

/** Tells what ended a relay that did not end by itself. */
export function isBrokenOff(failure: unknown): boolean {
  const kinds = [UpstreamError, RenameError, UnfinishedReply];
  return kinds.some((kind) => failure instanceof kind);
}
