import type { ByteStream } from "../../core/ports/sandbox.ts";

/** A line without its end, or one that was too long, of which only the size is known. */
export type SplitLine =
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "too-long"; readonly sizeBytes: number };

const NEWLINE = 0x0a;

/**
 * The lines of a hostile stream, with no more than `maxBytes` of one held at a time. A longer one is
 * let pass and told by its size. What follows the last newline is a line too, unless it is empty.
 */
export async function* splitLines(
  bytes: ByteStream,
  maxBytes: number,
): AsyncGenerator<SplitLine, void, undefined> {
  const line = new LineBuffer(maxBytes);
  for await (const chunk of bytes) {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) break;
      line.add(chunk.subarray(start, end));
      yield line.take();
      start = end + 1;
    }
    line.add(chunk.subarray(start));
  }
  if (line.sizeBytes > 0) yield line.take();
}

class LineBuffer {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #sizeBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  add(part: Uint8Array): void {
    this.#sizeBytes += part.byteLength;
    if (this.#sizeBytes > this.#maxBytes) this.#parts = [];
    else if (part.byteLength > 0) this.#parts.push(part);
  }

  take(): SplitLine {
    const sizeBytes = this.#sizeBytes;
    const parts = this.#parts;
    this.#parts = [];
    this.#sizeBytes = 0;
    if (sizeBytes > this.#maxBytes) return { kind: "too-long", sizeBytes };
    return { kind: "line", text: Buffer.concat(parts).toString("utf8") };
  }
}
