/**
 * Keeps the first half and the last half of a stream and counts what lies between, in memory that
 * does not grow beyond the cap (failures C-59). Without a cap it keeps everything.
 */
export class KeptOutput {
  readonly #headBytes: number;
  readonly #tailBytes: number;
  readonly #head: Uint8Array[] = [];
  #tail: Uint8Array[] = [];
  #headLength = 0;
  #tailLength = 0;
  #droppedBytes = 0;

  constructor(maxBytes = Number.POSITIVE_INFINITY) {
    this.#headBytes = Math.floor(maxBytes / 2);
    this.#tailBytes = Math.ceil(maxBytes / 2);
  }

  get droppedBytes(): number {
    return this.#droppedBytes + Math.max(0, this.#tailLength - this.#tailBytes);
  }

  push(chunk: Uint8Array): void {
    const head = chunk.subarray(0, this.#headBytes - this.#headLength);
    if (head.byteLength > 0) {
      // Copies: a small piece must not keep the large buffer that it was read into.
      this.#head.push(new Uint8Array(head));
      this.#headLength += head.byteLength;
    }
    const rest = chunk.subarray(head.byteLength);
    if (rest.byteLength === 0) return;
    this.#tail.push(new Uint8Array(rest));
    this.#tailLength += rest.byteLength;
    // Cut in large steps: each byte is moved at most twice, however small the chunks.
    if (this.#tailLength > 2 * this.#tailBytes + 65_536) this.#cutTail();
  }

  bytes(): Uint8Array {
    this.#cutTail();
    return Buffer.concat([...this.#head, ...this.#tail]);
  }

  #cutTail(): void {
    const excess = this.#tailLength - this.#tailBytes;
    if (excess <= 0) return;
    this.#tail = [Buffer.concat(this.#tail).subarray(excess)];
    this.#tailLength = this.#tailBytes;
    this.#droppedBytes += excess;
  }
}
