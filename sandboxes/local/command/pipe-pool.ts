import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { SandboxError } from "../../../core/ports/sandbox.ts";
import { runTool } from "../../run-tool.ts";

/** Both ends of a pipe. The end that a sandbox gets blocks, ours does not. */
export interface PipeEnds {
  readonly readFd: number;
  readonly writeFd: number;
}

const BATCH = 48;

/**
 * Makes real pipes, which Node cannot: its children get sockets, and then no program can open
 * `/dev/stdout`. A named pipe whose name is gone once both ends are open is one. Names are made in
 * batches, one process each.
 */
export class PipePool {
  readonly #dir: string;
  readonly #ready: string[] = [];
  #made = 0;
  #making: Promise<void> | null = null;

  /** `dir` must be out of everyone else's reach: pipes are 0666, so that any uid can reopen its own. */
  constructor(dir: string) {
    this.#dir = dir;
  }

  /** A pipe whose read end stays here (the sandbox writes), or whose write end does. */
  async open(ours: "read" | "write"): Promise<PipeEnds> {
    const path = await this.#take();
    const { O_RDONLY, O_WRONLY, O_RDWR, O_NONBLOCK } = constants;
    // With a reader and a writer there, no open below waits for the other side.
    const holder = openSync(path, O_RDWR | O_NONBLOCK);
    try {
      const readFd = openSync(path, ours === "read" ? O_RDONLY | O_NONBLOCK : O_RDONLY);
      const writeFd = openSync(path, ours === "write" ? O_WRONLY | O_NONBLOCK : O_WRONLY);
      return { readFd, writeFd };
    } finally {
      closeSync(holder);
      unlinkSync(path);
    }
  }

  async #take(): Promise<string> {
    for (;;) {
      const path = this.#ready.pop();
      if (path !== undefined) return path;
      this.#making ??= this.#makeBatch().finally(() => {
        this.#making = null;
      });
      await this.#making;
    }
  }

  async #makeBatch(): Promise<void> {
    const paths = Array.from({ length: BATCH }, () =>
      join(this.#dir, `pipe-${String((this.#made += 1))}`),
    );
    const made = await runTool(["mkfifo", "-m", "666", ...paths]);
    if (made.exitCode !== 0)
      throw new SandboxError("start-failed", `mkfifo failed: ${made.stderr.trim()}`);
    this.#ready.push(...paths);
  }
}
