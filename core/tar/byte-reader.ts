import { TarError } from "./tar-entry.ts";

/** Pulls exact numbers of bytes from a stream of chunks of any size. */
export class ByteReader {
  readonly #iterator: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#iterator = source[Symbol.asyncIterator]();
  }

  /** Exactly `sizeBytes`; a stream that ends before is an error. */
  async read(sizeBytes: number): Promise<Uint8Array> {
    const whole = new Uint8Array(sizeBytes);
    let filled = 0;
    while (filled < sizeBytes) {
      const chunk = await this.readSome(sizeBytes - filled);
      whole.set(chunk, filled);
      filled += chunk.byteLength;
    }
    return whole;
  }

  /** At least one byte and at most `maxBytes`, without copying. */
  async readSome(maxBytes: number): Promise<Uint8Array> {
    while (this.#rest.byteLength === 0) {
      const next = await this.#iterator.next();
      if (next.done === true) throw new TarError("archive ends in the middle of an entry");
      this.#rest = next.value;
    }
    const chunk = this.#rest.subarray(0, maxBytes);
    this.#rest = this.#rest.subarray(chunk.byteLength);
    return chunk;
  }

  /** Reads to the end, so that the writer on the other side is not cut off. */
  async drain(): Promise<void> {
    this.#rest = new Uint8Array();
    for (;;) {
      const next = await this.#iterator.next();
      if (next.done === true) return;
    }
  }

  /** Tells the source that nobody reads on. */
  async close(): Promise<void> {
    await this.#iterator.return?.();
  }
}
