import type { AppendFile } from "../../core/ports/attempt-folder.ts";

/** Bytes of a verifier's output that are kept: the first half as they come, the last half at the end. */
export const MAX_KEPT_BYTES = 4 * 1024 * 1024;
/** Bytes of each end that markers are looked for in. */
const SAMPLE_BYTES = 256 * 1024;

/**
 * The output of a command as a file that grows while it runs and stays bounded whatever the command
 * prints: head and tail are kept, and between them a mark says how many bytes were dropped
 * (failures C-59). `take` never blocks and costs the same for many small chunks as for one large;
 * `end` waits until all is written.
 */
export class KeptOutput {
  readonly #file: AppendFile;
  readonly #head: Buffer;
  #headBytes = 0;
  #writtenBytes = 0;
  readonly #tail: Buffer;
  /** Bytes that ever went past the head; the tail holds the last of them, wrapped around. */
  #beyondBytes = 0;
  #writing: Promise<void> | null = null;

  constructor(file: AppendFile, maxBytes = MAX_KEPT_BYTES) {
    this.#file = file;
    this.#head = Buffer.alloc(Math.floor(maxBytes / 2));
    this.#tail = Buffer.alloc(Math.floor(maxBytes / 2));
  }

  get totalBytes(): number {
    return this.#headBytes + this.#beyondBytes;
  }

  take(chunk: Uint8Array): void {
    const head = chunk.subarray(0, this.#head.length - this.#headBytes);
    this.#head.set(head, this.#headBytes);
    this.#headBytes += head.length;
    this.#wrap(chunk.subarray(head.length));
    if (head.length === 0 || this.#writing !== null) return;
    this.#writing = this.#writeHead();
    // `end` waits for the same promise and fails with it.
    this.#writing.catch(() => undefined);
  }

  /** Writes what was kept of the end, with the mark before it, and closes the file. */
  async end(): Promise<void> {
    try {
      await this.#writing;
      await this.#writeHead();
      const dropped = this.#beyondBytes - this.#tail.length;
      if (dropped > 0)
        await this.#file.append(Buffer.from(`\n[... ${dropped} bytes dropped ...]\n`));
      const last = this.#last();
      if (last.length > 0) await this.#file.append(last);
    } finally {
      await this.#file.close();
    }
  }

  /** Text of both ends, for a search; what is no UTF-8 is replaced. */
  sample(): string {
    const head = this.#head.subarray(0, this.#headBytes);
    const whole = this.#beyondBytes > 0 ? this.#last() : head;
    const ends = [head.subarray(0, SAMPLE_BYTES), whole.subarray(-SAMPLE_BYTES)];
    return ends.map((bytes) => new TextDecoder().decode(bytes)).join("\n");
  }

  async #writeHead(): Promise<void> {
    while (this.#writtenBytes < this.#headBytes) {
      const next = this.#head.subarray(this.#writtenBytes, this.#headBytes);
      this.#writtenBytes = this.#headBytes;
      await this.#file.append(next);
    }
    this.#writing = null;
  }

  #wrap(chunk: Uint8Array): void {
    const kept = chunk.subarray(Math.max(0, chunk.length - this.#tail.length));
    const at = (this.#beyondBytes + chunk.length - kept.length) % this.#tail.length;
    const first = kept.subarray(0, this.#tail.length - at);
    this.#tail.set(first, at);
    this.#tail.set(kept.subarray(first.length), 0);
    this.#beyondBytes += chunk.length;
  }

  #last(): Buffer {
    if (this.#beyondBytes <= this.#tail.length) return this.#tail.subarray(0, this.#beyondBytes);
    const at = this.#beyondBytes % this.#tail.length;
    return Buffer.concat([this.#tail.subarray(at), this.#tail.subarray(0, at)]);
  }
}
