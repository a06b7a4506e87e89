import { type ChildProcess, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { Socket } from "node:net";
import { constants } from "node:os";
import { type Command, SandboxError } from "../../../core/ports/sandbox.ts";
import { EntranceWords } from "../../command/entrance-words.ts";
import { TOOL_ENV } from "../../run-tool.ts";
import type { CommandGroup, SandboxGroup } from "../sandbox-group.ts";
import type { Supervisor } from "../start-supervisor.ts";
import { entranceOf, insideOf } from "./enter-sandbox.ts";
import { gateOrder, gateWords } from "./gate-words.ts";
import type { PipePool } from "./pipe-pool.ts";

/** A process that leads into a sandbox, and what it was given. */
export interface Gate {
  readonly child: ChildProcess;
  readonly group: CommandGroup;
  readonly words: EntranceWords;
  /** Resolves, and never rejects, when the process has ended: to its exit code. */
  readonly ended: Promise<number | Error>;
  /** Our ends of the command's stdin, stdout and stderr. */
  readonly fds: readonly [number, number, number];
  /** Whether it waited for the command: something may have ended it meanwhile. */
  readonly hasWaited: boolean;
}

interface GatesParts {
  readonly pipes: PipePool;
  readonly cgroup: SandboxGroup;
  readonly seccomp: boolean;
}

/**
 * The ways into one sandbox. Where cgroups hold it, one gate stands ready at any time: joining takes
 * longer than most commands do, and is over when the next command comes.
 */
export class Gates {
  readonly #parts: GatesParts;
  readonly #standsReady: boolean;
  #next: Promise<Gate> | null = null;
  #isClosed = false;

  constructor(parts: GatesParts) {
    this.#parts = parts;
    this.#standsReady = parts.seccomp && parts.cgroup.joinFiles.length > 0;
  }

  /** Lets the next gate get ready, where one can. */
  prepare(): void {
    if (this.#isClosed || !this.#standsReady || this.#next !== null) return;
    this.#next = this.#openAhead();
    // Whoever takes it gets the failure.
    this.#next.catch(() => undefined);
  }

  /** Lets a command in. Throws `unsupported` for what cannot be passed in. */
  async enter(command: Command, supervisor: Supervisor): Promise<Gate> {
    const { seccomp } = this.#parts;
    assertPassable(command);
    if (!this.#standsReady)
      return await this.#open((group) => {
        const supervisorPid = supervisor.pid;
        const { argv, env } = entranceOf(command, { supervisorPid, group, seccomp });
        return { argv, env };
      });
    const inside = insideOf(command, seccomp);
    const gate = await this.#take();
    gate.child.ref();
    const host = gate.child.stdio[3];
    if (host instanceof Socket)
      host.ref().write(gateOrder({ supervisorPid: supervisor.pid, ...inside }));
    this.prepare();
    return gate;
  }

  /** No gate gets ready from now on, and the one that does ends. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const next = this.#next;
    this.#next = null;
    const gate = await next?.catch(() => null);
    if (gate === null || gate === undefined) return;
    closeEnds(gate);
    gate.child.ref();
    await gate.ended;
  }

  async #take(): Promise<Gate> {
    const next = this.#next;
    this.#next = null;
    const gate = await next;
    if (gate !== null && gate.child.exitCode === null && gate.child.signalCode === null)
      return { ...gate, hasWaited: true };
    // Out of memory, the kernel may have picked it.
    if (gate !== null) closeEnds(gate);
    return await this.#openAhead();
  }

  async #openAhead(): Promise<Gate> {
    const gate = await this.#open(({ joinFiles }) => ({
      argv: gateWords(joinFiles),
      env: TOOL_ENV,
    }));
    // One that waits holds nobody's event loop.
    gate.child.unref();
    const host = gate.child.stdio[3];
    if (host instanceof Socket) host.unref();
    return gate;
  }

  async #open(wordsOf: (group: CommandGroup) => WordsToSpawn): Promise<Gate> {
    const { cgroup } = this.#parts;
    const { ours, theirs } = await this.#openPipes();
    try {
      const group = cgroup.openCommand();
      const { argv, env } = wordsOf(group);
      const [program, ...args] = argv;
      const child = spawn(program, args, {
        stdio: [...theirs, "pipe"],
        env,
        cwd: "/",
        detached: true,
      });
      if (child.pid !== undefined) group.started(child.pid);
      const words = new EntranceWords(child);
      return { child, group, words, ended: exitOf(child), fds: ours, hasWaited: false };
    } catch (error) {
      for (const fd of ours) closeSync(fd);
      throw error;
    } finally {
      for (const fd of theirs) closeSync(fd);
    }
  }

  /** The three streams of a command: our ends, and the command's, to be passed on. */
  async #openPipes(): Promise<{
    readonly ours: [number, number, number];
    readonly theirs: readonly number[];
  }> {
    const { pipes } = this.#parts;
    const [input, output, errors] = await Promise.all([
      pipes.open("write"),
      pipes.open("read"),
      pipes.open("read"),
    ]);
    return {
      ours: [input.writeFd, output.readFd, errors.readFd],
      theirs: [input.readFd, output.writeFd, errors.writeFd],
    };
  }
}

interface WordsToSpawn {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

function assertPassable({ argv, cwd, env }: Command): void {
  if ([...argv, cwd, ...Object.values(env)].some((word) => word.includes("\0")))
    throw new SandboxError("unsupported", "a word of the command holds a NUL byte");
}

function closeEnds({ fds, child }: Gate): void {
  for (const fd of fds) closeSync(fd);
  const host = child.stdio[3];
  if (host instanceof Socket) host.destroy();
}

function exitOf(child: ChildProcess): Promise<number | Error> {
  return new Promise((resolve) => {
    child.once("error", resolve);
    child.once("exit", (code, signal) => {
      resolve(signal === null ? (code ?? 0) : 128 + constants.signals[signal]);
    });
  });
}
