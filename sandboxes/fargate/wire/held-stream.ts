/** Bytes of a stream that may be on their way or wait for their reader. */
export const WINDOW_BYTES = 1024 * 1024;

/** The sending end of a stream: waits when the other side's reader is slow. */
export class Outflow {
  readonly #send: (chunk: Uint8Array) => Promise<void>;
  #underway = 0;
  #isOpen = true;
  #wake: () => void = () => undefined;

  constructor(send: (chunk: Uint8Array) => Promise<void>) {
    this.#send = send;
  }

  async send(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.byteLength; start += WINDOW_BYTES / 4) {
      const chunk = bytes.subarray(start, start + WINDOW_BYTES / 4);
      while (this.#isOpen && this.#underway + chunk.byteLength > WINDOW_BYTES) await this.#room();
      if (!this.#isOpen) return;
      this.#underway += chunk.byteLength;
      await this.#send(chunk);
    }
  }

  taken(bytes: number): void {
    this.#underway -= bytes;
    this.#wake();
  }

  /** Nobody reads any more: what is still sent is dropped. */
  close(): void {
    this.#isOpen = false;
    this.#wake();
  }

  async #room(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** The receiving end: keeps what came until it is asked for, and says what was taken. */
export class Inflow implements AsyncIterable<Uint8Array> {
  readonly #chunks: Uint8Array[] = [];
  readonly #onTaken: (bytes: number) => void;
  #ending: { readonly error: unknown } | null = null;
  #wake: () => void = () => undefined;

  constructor(onTaken: (bytes: number) => void) {
    this.#onTaken = onTaken;
  }

  push(chunk: Uint8Array): void {
    if (this.#ending !== null) return;
    this.#chunks.push(chunk);
    this.#wake();
  }

  /** With an error the reader gets it after what came before; without one the stream ends. */
  end(error: unknown = null): void {
    this.#ending ??= { error };
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#onTaken(chunk.byteLength);
        yield chunk;
        continue;
      }
      if (this.#ending !== null) {
        if (this.#ending.error !== null) throw this.#ending.error;
        return;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
