/** Bytes that may wait for a reader before the writer is held back. */
const HIGH_WATER_BYTES = 1024 * 1024;

/** Bytes between one writer and one reader; a slow reader holds the writer back. */
export class ByteQueue {
  readonly #chunks: Uint8Array[] = [];
  #waitingBytes = 0;
  #isEnded = false;
  #holds = true;
  #wakeReader: () => void = () => undefined;
  #wakeWriter: () => void = () => undefined;

  /** Resolves when there is room for more. After `stopHolding` it drops what nobody reads. */
  async push(chunk: Uint8Array): Promise<void> {
    if (!this.#holds && this.#waitingBytes > HIGH_WATER_BYTES) return;
    this.#chunks.push(chunk);
    this.#waitingBytes += chunk.byteLength;
    this.#wakeReader();
    while (this.#holds && this.#waitingBytes > HIGH_WATER_BYTES)
      await new Promise<void>((resolve) => {
        this.#wakeWriter = resolve;
      });
  }

  /** The next chunk; null at the end. */
  async shift(): Promise<Uint8Array | null> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#waitingBytes -= chunk.byteLength;
        this.#wakeWriter();
        return chunk;
      }
      if (this.#isEnded) return null;
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }

  end(): void {
    this.#isEnded = true;
    this.#wakeReader();
  }

  /** The reader has gone or the process is being killed: nothing waits for a reader any more. */
  stopHolding(): void {
    this.#holds = false;
    this.#wakeWriter();
  }
}
