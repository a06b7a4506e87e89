const FIRST_CAPACITY = 1024;

/** Bytes that come in pieces, kept in one array that doubles: a piece costs its length, not more. */
export class GrowingBytes {
  #bytes = new Uint8Array(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(piece: Uint8Array): void {
    const needed = this.#length + piece.length;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2, FIRST_CAPACITY));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(piece, this.#length);
    this.#length = needed;
  }

  /** What was kept so far; valid until the next `append`. Starts anew. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return taken;
  }

  /** Starts anew and gives the memory back. */
  clear(): void {
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
  }
}
