import {
  type Command,
  type Sandbox,
  SandboxError,
  type SandboxProcess,
} from "../../core/ports/sandbox.ts";
import type { AgentLog } from "./agent-log.ts";

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
    this.#stderr = log.follow(process.stderr);
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
