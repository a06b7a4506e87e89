import type { ModelProtocol } from "../../core/model/exchange.ts";
import type { UsageReading } from "../../core/model/usage-reading.ts";
import { parseJson } from "../../core/usage/json-view.ts";
import { SseParser } from "../../core/usage/sse-parser.ts";
import type { SseEvent } from "../../core/usage/sse-parser.ts";
import { replyFacts, replyStream, wholeReply } from "./agent-reply.ts";
import type { AgentReplyFacts, ReplyEnd, ReplyStream } from "./agent-reply.ts";
import { BlockCollector } from "./block-collector.ts";
import { BlockSequence, HeldTooLong } from "./block-sequence.ts";
import type { CallMemory } from "./call-memory.ts";
import { AnthropicReader } from "./read-anthropic-reply.ts";
import { CompletionsReader } from "./read-completions-reply.ts";
import { GeminiReader } from "./read-gemini-reply.ts";
import { ResponsesReader } from "./read-responses-reply.ts";
import type { ReplyPiece, ReplyReader, ToldPiece } from "./reply-piece.ts";
import type { KnownTool } from "./responses-tools.ts";
import { ThoughtKeeper } from "./thought-keeper.ts";
import { TranslationError } from "./translation-error.ts";

export interface ReplyTranslation {
  readonly from: ModelProtocol;
  readonly to: ModelProtocol;
  /** How the provider's bytes are to be read. */
  readonly framing: "sse" | "json";
  /** Whether the agent asked for a stream. */
  readonly stream: boolean;
  readonly asEvents: boolean;
  /** The name that the agent asked for. */
  readonly model: string;
  readonly tools: ReadonlyMap<string, KnownTool>;
  readonly memory: CallMemory;
  /** Of one event, of a whole body, and of what is held back of parallel calls. */
  readonly maxBytes: number;
}

/**
 * A provider's reply in the agent's protocol: bytes in, text out, split anywhere. A stream is passed on
 * as it comes, a whole reply at its end. Throws `TranslationError` for what is no reply that can be told.
 */
export class ReplyTranslator {
  readonly #options: ReplyTranslation;
  readonly #reader: ReplyReader;
  readonly #keeper: ThoughtKeeper;
  readonly #facts: AgentReplyFacts;
  readonly #stream: ReplyStream | null;
  readonly #collector = new BlockCollector();
  readonly #sequence: BlockSequence;
  #parser: SseParser;
  #body: Uint8Array[] = [];
  #bodyBytes = 0;
  #hasBegun = false;
  #chars = 0;

  constructor(options: ReplyTranslation) {
    this.#options = options;
    this.#reader = replyReader(options.from);
    this.#keeper = new ThoughtKeeper(options.memory);
    this.#facts = replyFacts(options);
    this.#stream = options.stream ? replyStream(options.to, this.#facts) : null;
    this.#sequence = new BlockSequence(this.#stream ?? this.#collector, options.maxBytes);
    this.#parser = new SseParser(options.maxBytes);
  }

  /** Whether the agent gets events. */
  get isEventStream(): boolean {
    const { stream, to, asEvents } = this.#options;
    return stream && (to !== "gemini" || asEvents);
  }

  /** Of the translated reply. */
  get contentType(): string {
    return this.isEventStream ? "text/event-stream; charset=utf-8" : "application/json";
  }

  push(chunk: Uint8Array): string {
    if (this.#options.framing === "sse") return this.#takeEvents(this.#parser.push(chunk));
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > this.#options.maxBytes)
      throw new TranslationError("unreadable", "an answer too long to be read");
    this.#body.push(chunk);
    return "";
  }

  /**
   * The rest of the reply, with what the provider was measured to have used. `early` are events in the
   * provider's protocol that end it here; what came of an open one is then dropped.
   */
  end(reading: UsageReading, early: string | null = null): string {
    if (early !== null) {
      this.#parser = new SseParser(this.#options.maxBytes);
      const text = this.#takeEvents(this.#parser.push(new TextEncoder().encode(early)));
      return text + this.#finish(reading);
    }
    const rest =
      this.#options.framing === "sse" ? this.#takeEvents(this.#parser.end()) : this.#takeBody();
    return rest + this.#finish(reading);
  }

  #takeBody(): string {
    const body = parseJson(Buffer.concat(this.#body).toString("utf8"));
    if (body === undefined) throw new TranslationError("unreadable", "an answer that is no JSON");
    return this.#takePieces(this.#reader.read(body));
  }

  #takeEvents(events: readonly SseEvent[]): string {
    let text = "";
    for (const { data, oversized } of events) {
      if (oversized) throw new TranslationError("unreadable", "an event too long to be read");
      if (data === "[DONE]") this.#reader.endMark();
      else if (data !== "") text += this.#takePieces(this.#reader.read(readEvent(data)));
    }
    return text;
  }

  #takePieces(pieces: readonly ReplyPiece[]): string {
    const { failure } = this.#reader;
    if (failure !== null) throw new TranslationError("unreadable", failure);
    let text = pieces.length === 0 ? "" : this.#begin();
    for (const piece of pieces) {
      this.#count(piece);
      const told = this.#keeper.take(piece);
      if (told !== null) text += this.#sequenced(told);
    }
    return text;
  }

  /** Some of a reply is kept until its end, so its length must have one. */
  #count(piece: ReplyPiece): void {
    this.#chars += "text" in piece ? piece.text.length : 1;
    if (this.#chars > this.#options.maxBytes)
      throw new TranslationError("unreadable", "an answer too long to be translated");
  }

  #sequenced(piece: ToldPiece): string {
    try {
      return this.#sequence.take(piece);
    } catch (thrown) {
      if (!(thrown instanceof HeldTooLong)) throw thrown;
      throw new TranslationError("unreadable", thrown.message, { cause: thrown });
    }
  }

  /** Comes before all blocks, and numbers its events before theirs. */
  #begin(): string {
    if (this.#hasBegun) return "";
    this.#hasBegun = true;
    return this.#stream?.begin() ?? "";
  }

  #finish(reading: UsageReading): string {
    const { stop: told, stopSequence, failure } = this.#reader;
    if (reading.error !== null) throw new TranslationError("failed", reading.error);
    if (failure !== null) throw new TranslationError("unreadable", failure);
    if (told === null)
      throw new TranslationError("incomplete", "the provider's answer ended before its end");
    const begun = this.#begin();
    const blocks = this.#sequence.flush();
    // Several servers say that a turn with calls is finished.
    const stop = told === "turn" && this.#sequence.hasCalls ? "calls" : told;
    const end: ReplyEnd = { stop, stopSequence, reading };
    if (this.#stream !== null) return begun + blocks + this.#stream.end(end);
    const whole = wholeReply(this.#options.to, this.#facts, {
      blocks: this.#collector.blocks,
      end,
    });
    return JSON.stringify(whole);
  }
}

/** An event that is lost may have been words of the answer, or a call. */
function readEvent(data: string): unknown {
  const event = parseJson(data);
  if (event === undefined) throw new TranslationError("unreadable", "an event that is no JSON");
  return event;
}

function replyReader(protocol: ModelProtocol): ReplyReader {
  switch (protocol) {
    case "anthropic-messages":
      return new AnthropicReader();
    case "openai-completions":
      return new CompletionsReader();
    case "gemini":
      return new GeminiReader();
    case "openai-responses":
      return new ResponsesReader();
  }
}
