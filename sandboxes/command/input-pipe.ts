import { Socket } from "node:net";

/**
 * The write end of a command's stdin. Bytes that the command did not read before it ended are
 * dropped, as with any pipe: its exit code says that it ended.
 */
export class InputPipe {
  readonly #socket: Socket;
  /** Resolves when nobody reads any more, or all was written and the end with it. */
  readonly closed: Promise<void>;

  constructor(fd: number) {
    this.#socket = new Socket({ fd, readable: false, writable: true });
    this.closed = new Promise((resolve) => {
      this.#socket.once("close", () => {
        resolve();
      });
    });
    // EPIPE: nobody reads any more. `close` follows, which the writers below wait for.
    this.#socket.on("error", () => undefined);
  }

  /** True when nobody reads any more, or the end was written. */
  get isClosed(): boolean {
    return this.#socket.destroyed || this.#socket.writableEnded;
  }

  /** Resolves when the bytes are in the pipe, or nobody will read them. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.isClosed) return;
    const written = new Promise<void>((resolve) => {
      this.#socket.write(bytes, () => {
        resolve();
      });
    });
    await Promise.race([written, this.closed]);
  }

  /** Lets the command read the end of its input, after what was written. */
  async end(): Promise<void> {
    if (this.#socket.destroyed) return;
    this.#socket.end(() => this.#socket.destroy());
    await this.closed;
  }

  close(): void {
    this.#socket.destroy();
  }
}
