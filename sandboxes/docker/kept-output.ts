/**
 * Keeps the first and the last half of a stream and counts what lies between, whatever its length
 * (failures C-59). Without a limit it keeps everything.
 */
export class KeptOutput {
  readonly #headBytes: number;
  readonly #tailBytes: number;
  readonly #head: Uint8Array[] = [];
  readonly #tail: Uint8Array[] = [];
  #inHead = 0;
  #inTail = 0;
  #dropped = 0;

  constructor(maxBytes: number | undefined) {
    this.#headBytes = maxBytes === undefined ? Number.POSITIVE_INFINITY : Math.ceil(maxBytes / 2);
    this.#tailBytes = maxBytes === undefined ? 0 : Math.floor(maxBytes / 2);
  }

  get droppedBytes(): number {
    return this.#dropped;
  }

  add(chunk: Uint8Array): void {
    const head = chunk.subarray(0, Math.max(0, this.#headBytes - this.#inHead));
    if (head.byteLength > 0) this.#head.push(Uint8Array.from(head));
    this.#inHead += head.byteLength;
    this.#addTail(chunk.subarray(head.byteLength));
  }

  bytes(): Uint8Array {
    return Buffer.concat([...this.#head, ...this.#tail]);
  }

  #addTail(chunk: Uint8Array): void {
    if (chunk.byteLength === 0) return;
    this.#tail.push(Uint8Array.from(chunk));
    this.#inTail += chunk.byteLength;
    for (
      let excess = this.#inTail - this.#tailBytes;
      excess > 0;
      excess = this.#inTail - this.#tailBytes
    ) {
      const first = this.#tail[0] ?? new Uint8Array();
      const cut = Math.min(excess, first.byteLength);
      if (cut === first.byteLength) this.#tail.shift();
      else this.#tail[0] = first.subarray(cut);
      this.#inTail -= cut;
      this.#dropped += cut;
    }
  }
}
