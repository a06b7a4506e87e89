import type { AppendFile } from "../../core/ports/attempt-folder.ts";
import {
  type Command,
  type Sandbox,
  SandboxError,
  type SandboxProcess,
} from "../../core/ports/sandbox.ts";
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

  async close(): Promise<void> {
    try {
      await this.#writes;
    } finally {
      await this.#file.close();
    }
  }
}

export interface EndLimits {
  /** From the end of its input to its own exit. */
  readonly inputEndMs: number;
}

/** An agent's program in its sandbox. */
export class AgentProcess {
  readonly process: SandboxProcess;
  /** Its exit code, once it has ended by itself; null while it runs, and when it was ended. */
  exitCode: number | null = null;
  #isBeingEnded = false;
  readonly #stderr: Promise<void>;
  readonly #exited: Promise<void>;

  private constructor(process: SandboxProcess, log: AgentLog) {
    this.process = process;
    this.#exited = this.#noteExit();
    this.#stderr = logLines(process, log);
  }

  static async start(sandbox: Sandbox, command: Command, log: AgentLog): Promise<AgentProcess> {
    return new AgentProcess(await sandbox.spawn(command), log);
  }

  /** Waits for the program's own end, but no longer. */
  async awaitExit(ms: number): Promise<void> {
    await this.within(ms, this.#exited);
  }

  async #noteExit(): Promise<void> {
    try {
      const code = await this.process.exitCode;
      if (!this.#isBeingEnded) this.exitCode = code;
    } catch (thrown) {
      // A sandbox that is lost tells so at the next call, with its type.
      if (!(thrown instanceof SandboxError)) throw thrown;
    }
  }

  /** Ends its input, waits for its own exit, then kills it and all that it started. */
  async end({ inputEndMs }: EndLimits): Promise<void> {
    this.#isBeingEnded = true;
    if (inputEndMs > 0) {
      await this.process.closeStdin();
      await this.within(inputEndMs, this.#exited);
    }
    await this.process.kill();
    await this.#stderr;
  }

  /** Waits for something, but no longer; never rejects. */
  async within(ms: number, what: Promise<unknown>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    const settled = what.then(
      () => undefined,
      () => undefined,
    );
    await Promise.race([limit, settled]);
    clearTimeout(timer);
  }
}

async function logLines({ stderr }: SandboxProcess, log: AgentLog): Promise<void> {
  try {
    for await (const line of splitLines(stderr, MAX_LOG_LINE_BYTES))
      log.line(line.kind === "line" ? line.text : `[${String(line.sizeBytes)} bytes dropped]`);
  } catch (thrown) {
    log.line(`[its output was lost: ${thrown instanceof Error ? thrown.message : String(thrown)}]`);
  }
}
