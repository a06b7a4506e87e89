/**
 * Keeps the first half and the last half of a stream and counts what lies between, in memory that
 * does not grow beyond the cap.
 */
export class KeptOutput {
  readonly #headBytes: number;
  readonly #tailBytes: number;
  readonly #head: Uint8Array[] = [];
  #tail: Uint8Array[] = [];
  #headLength = 0;
  #tailLength = 0;
  #droppedBytes = 0;

  constructor(maxBytes: number) {
    this.#headBytes = Math.floor(maxBytes / 2);
    this.#tailBytes = maxBytes - this.#headBytes;
  }

  get droppedBytes(): number {
    return this.#droppedBytes;
  }

  push(chunk: Uint8Array): void {
    const head = chunk.subarray(0, this.#headBytes - this.#headLength);
    if (head.byteLength > 0) {
      this.#head.push(head);
      this.#headLength += head.byteLength;
    }
    const rest = chunk.subarray(head.byteLength);
    if (rest.byteLength === 0) return;
    this.#tail.push(rest);
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
