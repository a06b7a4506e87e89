import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import type { AppendFile } from "../../core/ports/attempt-folder.ts";
import { storeError } from "./store-error.ts";
import type { WrittenFile } from "./write-atomic.ts";

const APPEND = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;

/** Bytes that a loss of power may take: the rest was flushed to the disk. */
const FLUSH_BYTES = 65_536;

/**
 * A file that grows while the attempt runs. Each append is handed to the kernel before it resolves,
 * so that a kill loses nothing (failures C-15). Appends keep their order; one that fails, as on a
 * full disk, is taken back whole and every later one is refused.
 */
export class FileAppend implements AppendFile {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #startBytes: number;
  readonly #hash = createHash("sha256");
  readonly #onClose: (written: WrittenFile | null) => void;
  #sizeBytes: number;
  #unflushedBytes = 0;
  #tail: Promise<void> = Promise.resolve();
  #closing: Promise<void> | null = null;

  private constructor(
    path: string,
    handle: FileHandle,
    startBytes: number,
    onClose: (written: WrittenFile | null) => void,
  ) {
    this.#path = path;
    this.#handle = handle;
    this.#startBytes = startBytes;
    this.#sizeBytes = startBytes;
    this.#onClose = onClose;
  }

  /** `onClose` gets the file's size and hash, or null when it held bytes before or lost some. */
  static async open(
    path: string,
    onClose: (written: WrittenFile | null) => void,
  ): Promise<FileAppend> {
    try {
      const handle = await open(path, APPEND, 0o644);
      return new FileAppend(path, handle, (await handle.stat()).size, onClose);
    } catch (error) {
      throw storeError(error, "append to", path);
    }
  }

  async append(bytes: Uint8Array): Promise<void> {
    const written = this.#writeAfter(this.#tail, bytes);
    this.#tail = written;
    // Whoever appends next, or closes, sees the same failure: it is not lost here.
    written.catch(() => undefined);
    await written;
  }

  async close(): Promise<void> {
    this.#closing ??= this.#end();
    await this.#closing;
  }

  async #writeAfter(earlier: Promise<void>, bytes: Uint8Array): Promise<void> {
    await earlier;
    await this.#write(bytes);
  }

  async #write(bytes: Uint8Array): Promise<void> {
    try {
      await this.#handle.writeFile(bytes);
      this.#sizeBytes += bytes.length;
      this.#hash.update(bytes);
      this.#unflushedBytes += bytes.length;
      if (this.#unflushedBytes < FLUSH_BYTES) return;
      await this.#handle.datasync();
      this.#unflushedBytes = 0;
    } catch (error) {
      // When this fails too, the first failure is still the one to report.
      await this.#handle.truncate(this.#sizeBytes).catch(() => undefined);
      throw storeError(error, "append to", this.#path);
    }
  }

  async #end(): Promise<void> {
    const failure = await this.#tail.then(
      () => null,
      (error: unknown) => ({ error }),
    );
    try {
      if (failure === null) await this.#handle.sync();
    } catch (error) {
      throw storeError(error, "append to", this.#path);
    } finally {
      await this.#handle.close();
      this.#onClose(failure === null && this.#startBytes === 0 ? this.#written() : null);
    }
  }

  #written(): WrittenFile {
    return { sizeBytes: this.#sizeBytes, sha256: this.#hash.digest("hex") };
  }
}
