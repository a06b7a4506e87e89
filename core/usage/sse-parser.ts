import { GrowingBytes } from "./growing-bytes.ts";

export interface SseEvent {
  /** The `event:` field, "" when there is none. */
  readonly name: string;
  readonly data: string;
  /** Longer than the parser keeps; `data` is then empty. */
  readonly oversized: boolean;
}

const LF = 10;
const CR = 13;
const BOM = [0xef, 0xbb, 0xbf];

/**
 * Server-sent events out of bytes that may be split anywhere (WHATWG HTML, 9.2.6): lines end with LF,
 * CR or CRLF, a byte order mark at the start is skipped, comments and unknown fields are ignored. Two
 * departures: an event that the stream's end leaves without its blank line is still given, and one
 * longer than `maxEventBytes` is dropped and marked, so that a hostile stream costs bounded memory.
 * Work is linear in what comes in.
 */
export class SseParser {
  readonly #maxEventBytes: number;
  // The mark is ours to strip: the decoder would strip one from the start of every line.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #line = new GrowingBytes();
  #consumed = 0;
  #boundary = 0;
  #lineBytes = 0;
  #eventBytes = 0;
  #afterCr = false;
  #isFirstLine = true;
  #name = "";
  #data: string[] = [];

  constructor(maxEventBytes: number) {
    this.#maxEventBytes = maxEventBytes;
  }

  push(chunk: Uint8Array): SseEvent[] {
    const events: SseEvent[] = [];
    if (chunk.length === 0) return events;
    // CRLF split over two chunks is one line end, not a line end and an empty line.
    let at = this.#afterCr && chunk[0] === LF ? 1 : 0;
    this.#afterCr = false;
    let cr = chunk.indexOf(CR, at);
    while (at < chunk.length) {
      if (cr !== -1 && cr < at) cr = chunk.indexOf(CR, at);
      const lf = chunk.indexOf(LF, at);
      const end = cr !== -1 && (lf === -1 || cr < lf) ? cr : lf;
      if (end === -1) {
        this.#hold(chunk.subarray(at));
        break;
      }
      const isBlank = this.#endLine(chunk.subarray(at, end), events);
      at = end + 1;
      if (end === cr && chunk[at] === LF) at += 1;
      else if (end === cr && at === chunk.length) this.#afterCr = true;
      if (isBlank) this.#boundary = this.#consumed + at;
    }
    this.#consumed += chunk.length;
    return events;
  }

  end(): SseEvent[] {
    const events: SseEvent[] = [];
    if (this.#lineBytes > 0) this.#endLine(new Uint8Array(), events);
    this.#dispatch(events);
    return events;
  }

  /** How many bytes had come when the last event ended; what came later is part of an open one. */
  get boundary(): number {
    return this.#boundary;
  }

  get #oversized(): boolean {
    return this.#eventBytes > this.#maxEventBytes;
  }

  #hold(bytes: Uint8Array): void {
    this.#lineBytes += bytes.length;
    this.#eventBytes += bytes.length;
    if (this.#oversized) this.#line.clear();
    else this.#line.append(bytes);
  }

  #endLine(rest: Uint8Array, events: SseEvent[]): boolean {
    const bytes = this.#wholeLine(rest);
    const isBlank = this.#lineBytes === 0;
    this.#lineBytes = 0;
    const isFirst = this.#isFirstLine;
    this.#isFirstLine = false;
    if (isBlank) this.#dispatch(events);
    else if (!this.#oversized) {
      const hasMark = isFirst && BOM.every((byte, index) => bytes[index] === byte);
      this.#takeLine(this.#decoder.decode(hasMark ? bytes.subarray(BOM.length) : bytes));
    }
    return isBlank;
  }

  /** A line that lies within one chunk is read where it lies. */
  #wholeLine(rest: Uint8Array): Uint8Array {
    if (this.#lineBytes > 0) {
      this.#hold(rest);
      return this.#line.take();
    }
    this.#lineBytes = rest.length;
    this.#eventBytes += rest.length;
    return rest;
  }

  #takeLine(line: string): void {
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const rest = colon === -1 ? "" : line.slice(colon + 1);
    const value = rest.startsWith(" ") ? rest.slice(1) : rest;
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#name = value;
  }

  #dispatch(events: SseEvent[]): void {
    if (this.#oversized) events.push({ name: this.#name, data: "", oversized: true });
    else if (this.#data.length > 0)
      events.push({ name: this.#name, data: this.#data.join("\n"), oversized: false });
    this.#name = "";
    this.#data = [];
    this.#eventBytes = 0;
  }
}
