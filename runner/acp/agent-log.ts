import { messageOf } from "../../core/errors.ts";
import type { AppendFile } from "../../core/ports/attempt-folder.ts";
import type { ByteStream } from "../../core/ports/sandbox.ts";
import type { Redactor } from "../proxy/redact/redactor.ts";
import { splitLines } from "./split-lines.ts";

const MAX_LOG_BYTES = 16 * 1024 * 1024;
const MAX_LOG_LINE_BYTES = 256 * 1024;

/** What an agent's program prints beside the protocol, for `agent/NAME.txt`: redacted and bounded. */
export class AgentLog {
  readonly #file: AppendFile;
  readonly #redactor: Redactor;
  #sizeBytes = 0;
  #writes: Promise<void> = Promise.resolve();

  constructor(file: AppendFile, redactor: Redactor) {
    this.#file = file;
    this.#redactor = redactor;
  }

  line(text: string): void {
    if (this.#sizeBytes > MAX_LOG_BYTES) return;
    const shown = this.#redactor.text(text.slice(0, MAX_LOG_LINE_BYTES));
    const bytes = new TextEncoder().encode(`${shown}\n`);
    this.#sizeBytes += bytes.byteLength;
    const isLast = this.#sizeBytes > MAX_LOG_BYTES;
    const kept = isLast ? new TextEncoder().encode("[the rest was dropped]\n") : bytes;
    this.#writes = this.#writes.then(async () => await this.#file.append(kept));
    // Told by `close`; until then nobody waits for it.
    this.#writes.catch(() => undefined);
  }

  /** Takes the lines of a stream until it ends. */
  async follow(stream: ByteStream): Promise<void> {
    try {
      for await (const line of splitLines(stream, MAX_LOG_LINE_BYTES))
        this.line(line.kind === "line" ? line.text : `[${String(line.sizeBytes)} bytes dropped]`);
    } catch (thrown) {
      this.line(`[its output was lost: ${messageOf(thrown)}]`);
    }
  }

  async close(): Promise<void> {
    try {
      await this.#writes;
    } finally {
      await this.#file.close();
    }
  }
}
