import { Socket } from "node:net";

/** How long a pipe that a daemon keeps open may be silent before a command that has ended is over. */
const SILENCE_MS = 100;

/**
 * The read end of a command's stdout or stderr. It ends when every writer has closed it, or, once
 * the command itself has ended, when the daemons that it left behind say nothing more. Stopping to
 * iterate does not close it: the next iteration goes on where the last one stopped.
 */
export class OutputPipe implements AsyncIterable<Uint8Array> {
  /** Resolves when it was read to its end, or closed. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  #isCommandOver = false;
  #hasEnded = false;
  #wake: () => void = () => undefined;

  constructor(fd: number) {
    this.#socket = new Socket({ fd, readable: true, writable: false });
    const wake = (): void => {
      this.#wake();
    };
    const end = (): void => {
      this.#hasEnded = true;
      this.#wake();
    };
    this.closed = new Promise((resolve) => {
      this.#socket.once("close", () => {
        resolve();
      });
    });
    this.#socket.on("readable", wake);
    // A pipe has no errors but its end; `close` follows each of them.
    this.#socket.on("error", end).on("end", end).on("close", end);
  }

  /** Says that the command's first process has ended. */
  commandOver(): void {
    this.#isCommandOver = true;
    this.#wake();
  }

  close(): void {
    this.#hasEnded = true;
    this.#socket.destroy();
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const chunk = this.#read();
      if (chunk !== null) {
        yield chunk;
        continue;
      }
      if (this.#hasEnded) return;
      if (!(await this.#somethingNew())) break;
    }
    this.close();
  }

  #read(): Uint8Array | null {
    const chunk: unknown = this.#socket.read();
    return chunk instanceof Uint8Array ? chunk : null;
  }

  /** False when the command is over and the pipe stayed silent. */
  async #somethingNew(): Promise<boolean> {
    return await new Promise((resolve) => {
      const timer = this.#isCommandOver
        ? setTimeout(() => {
            // A busy event loop fires timers late: bytes that wait in the pipe are seen first.
            setImmediate(() => {
              resolve(this.#socket.readableLength > 0 || this.#hasEnded);
            });
          }, SILENCE_MS)
        : undefined;
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}
