import type { ByteStream } from "../../../core/ports/sandbox.ts";

/** Bytes on their way from one side to the other; what is pushed after the end is dropped. */
export class BytePipe {
  readonly #chunks: Uint8Array[] = [];
  #isEnded = false;
  #wake: () => void = () => undefined;

  push(bytes: Uint8Array): void {
    if (!this.#isEnded) this.#chunks.push(bytes);
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  async *read(): ByteStream {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) yield chunk;
      else if (this.#isEnded) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
