import type { ModelProtocol } from "../model/exchange.ts";
import type { UsageReading } from "../model/usage-reading.ts";
import { AnthropicDialect } from "./anthropic-dialect.ts";
import { CompletionsDialect } from "./completions-dialect.ts";
import { GeminiDialect } from "./gemini-dialect.ts";
import { GrowingBytes } from "./growing-bytes.ts";
import { parseJson } from "./json-view.ts";
import { ResponsesDialect } from "./responses-dialect.ts";
import { SseParser } from "./sse-parser.ts";
import type { SseEvent } from "./sse-parser.ts";
import type { UsageDialect } from "./usage-dialect.ts";

/** How a reply's bytes are to be read: events of a stream, or one JSON document. */
export type ReplyFraming = "sse" | "json";

/** A final Responses event repeats the whole reply; nothing legitimate is larger. */
const DEFAULT_MAX_EVENT_BYTES = 16 * 1024 * 1024;

/**
 * Reads a reply's usage from its bytes as they pass, split anywhere: the reading of the parts is the
 * reading of the whole. `onEvent` sees every parsed event, for whoever assembles the reply. Memory is
 * bounded by `maxEventBytes`; what is longer is counted in `unreadableEvents` and not read.
 */
export class UsageMeter {
  readonly #dialect: UsageDialect;
  readonly #framing: ReplyFraming;
  readonly #parser: SseParser;
  readonly #body = new GrowingBytes();
  readonly #maxBytes: number;
  readonly #onEvent: (event: unknown) => void;
  #bodyBytes = 0;
  #unreadable = 0;
  #ended = false;

  constructor(
    protocol: ModelProtocol,
    framing: ReplyFraming,
    options: {
      readonly maxEventBytes?: number;
      readonly onEvent?: (event: unknown) => void;
    } = {},
  ) {
    this.#dialect = usageDialect(protocol);
    this.#framing = framing;
    this.#maxBytes = options.maxEventBytes ?? DEFAULT_MAX_EVENT_BYTES;
    this.#parser = new SseParser(this.#maxBytes);
    this.#onEvent = options.onEvent ?? ignore;
  }

  push(chunk: Uint8Array): void {
    if (this.#framing === "sse") return this.#takeAll(this.#parser.push(chunk));
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > this.#maxBytes) this.#body.clear();
    else this.#body.append(chunk);
  }

  /** How many bytes of a stream had come when its last event ended. */
  get eventBoundary(): number {
    return this.#parser.boundary;
  }

  get outputSoFar(): number {
    return this.#dialect.outputSoFar();
  }

  /** Whether the reply itself told its end; one that did not has broken off, however its bytes ended. */
  get hasEnded(): boolean {
    return this.#dialect.hasEnded();
  }

  /** The figure that counts has come; whatever follows adds nothing to it. */
  get isFinal(): boolean {
    return this.#dialect.reading().status !== "incomplete";
  }

  /** The reading; bytes pushed later are not in it. */
  end(): UsageReading {
    if (!this.#ended) this.#finish();
    this.#ended = true;
    return { ...this.#dialect.reading(), unreadableEvents: this.#unreadable };
  }

  #finish(): void {
    if (this.#framing === "sse") this.#takeAll(this.#parser.end());
    else if (this.#bodyBytes > this.#maxBytes) this.#unreadable += 1;
    else if (this.#bodyBytes > 0) this.#takeText(new TextDecoder().decode(this.#body.take()));
  }

  #takeAll(events: readonly SseEvent[]): void {
    for (const event of events) {
      if (event.oversized) this.#unreadable += 1;
      else if (event.data === "[DONE]") this.#dialect.endMark();
      else this.#takeText(event.data);
    }
  }

  #takeText(text: string): void {
    const event = parseJson(text);
    if (event === undefined) this.#unreadable += 1;
    else {
      this.#dialect.read(event);
      this.#onEvent(event);
    }
  }
}

function ignore(): void {}

function usageDialect(protocol: ModelProtocol): UsageDialect {
  switch (protocol) {
    case "anthropic-messages":
      return new AnthropicDialect();
    case "openai-completions":
      return new CompletionsDialect();
    case "openai-responses":
      return new ResponsesDialect();
    case "gemini":
      return new GeminiDialect();
  }
}
