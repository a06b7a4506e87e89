import { type ChildProcess, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { constants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { type Command, SandboxError } from "../../../core/ports/sandbox.ts";
import type { CommandGroup, SandboxGroup } from "../sandbox-group.ts";
import type { Supervisor } from "../start-supervisor.ts";
import { entranceOf } from "./enter-sandbox.ts";
import { EntranceWords } from "../../command/entrance-words.ts";
import { InputPipe } from "../../command/input-pipe.ts";
import { OutputPipe } from "../../command/output-pipe.ts";
import type { PipePool } from "./pipe-pool.ts";

/** What a command needs of the sandbox that it runs in. */
export interface CommandHost {
  readonly id: string;
  readonly supervisor: Supervisor;
  readonly cgroup: SandboxGroup;
  readonly pipes: PipePool;
  readonly seccomp: boolean;
  /** The uid that stands for every one outside of this user namespace; null on the machine itself. */
  readonly foreignUid: number | null;
  /** Commands that run, or whose streams are open: what `destroy` ends. */
  readonly commands: Set<OpenCommand>;
}

/** What is left of a command until its streams are closed. */
export interface OpenCommand {
  /** Resolves, and never rejects, when its first process has ended. */
  readonly ended: Promise<unknown>;
  /** Closes its streams. */
  release(): void;
}

/** A command that has been started, before anyone decided how to wait for it. */
export interface StartedCommand {
  readonly stdin: InputPipe;
  readonly stdout: OutputPipe;
  readonly stderr: OutputPipe;
  /**
   * The exit code when its first process ended. Rejects with `not-found` for a missing folder,
   * `lost` when the sandbox ended under it, `start-failed` when it never came in.
   */
  readonly exitCode: Promise<number>;
  /** Kills it and all that it started, daemons too; resolves when they are gone. */
  kill(): Promise<void>;
  /** Closes its streams. */
  release(): void;
}

/**
 * How often a command whose entrance finds no room for a process is tried: killed processes count
 * until they are reaped, which a killed fork bomb takes a moment for.
 */
const TRIES = 8;
const KILLED = 137;
const KILL_SPREAD_MS = 10;
const ENTRANCE_LIMIT_MS = 30_000;

/** Starts a command. Throws `lost` when the sandbox is gone, `unsupported` for what cannot be passed in. */
export async function startCommand(command: Command, host: CommandHost): Promise<StartedCommand> {
  if (!command.cwd.startsWith("/"))
    throw new SandboxError(
      "unsupported",
      `working folder ${JSON.stringify(command.cwd)} is not absolute`,
    );
  if (host.foreignUid === command.uid)
    throw new SandboxError(
      "unsupported",
      `uid ${String(command.uid)} is what this machine's files belong to in a user namespace: run as root, or use --env docker`,
    );
  for (let attempt = 1; ; attempt += 1) {
    const started = await tryStart(command, host);
    if (attempt === TRIES || !(await started.isShortOfProcesses)) return started;
    started.release();
    await delay(10 * 2 ** attempt);
  }
}

interface StartTry extends StartedCommand {
  /** Whether it ended before it came in, because the sandbox can hold no more processes. */
  readonly isShortOfProcesses: Promise<boolean>;
}

/** The three streams of a command: our ends as objects, the command's as descriptors to be passed on. */
async function openPipes(pool: PipePool): Promise<{
  readonly ours: Pick<StartedCommand, "stdin" | "stdout" | "stderr">;
  readonly theirs: readonly number[];
}> {
  const [input, output, errors] = await Promise.all([
    pool.open("write"),
    pool.open("read"),
    pool.open("read"),
  ]);
  return {
    ours: {
      stdin: new InputPipe(input.writeFd),
      stdout: new OutputPipe(output.readFd),
      stderr: new OutputPipe(errors.readFd),
    },
    theirs: [input.readFd, output.writeFd, errors.writeFd],
  };
}

async function tryStart(command: Command, host: CommandHost): Promise<StartTry> {
  const pipes = await openPipes(host.pipes);
  const { stdin, stdout, stderr } = pipes.ours;
  let open: OpenCommand | undefined;
  const release = (): void => {
    for (const pipe of [stdin, stdout, stderr]) pipe.close();
    if (open !== undefined) host.commands.delete(open);
  };
  try {
    if (!host.supervisor.isAlive()) throw lost(host.id);
    const group = openGroup(host);
    const { argv, env } = entranceOf(command, {
      supervisorPid: host.supervisor.pid,
      group,
      seccomp: host.seccomp,
    });
    const [program, ...args] = argv;
    const child = spawn(program, args, {
      stdio: [...pipes.theirs, "pipe"],
      env,
      cwd: "/",
      detached: true,
    });
    if (child.pid !== undefined) group.started(child.pid);
    const words = new EntranceWords(child);
    const late = setTimeout(() => void group.killAll(), ENTRANCE_LIMIT_MS);
    void words.first().finally(() => {
      clearTimeout(late);
    });
    const ended = exitOf(child).finally(() => {
      stdout.commandOver();
      stderr.commandOver();
    });
    open = { ended, release };
    host.commands.add(open);
    const exitCode = settleExit({ host, group, words, ended });
    // Whoever waits gets the rejection; a command that nobody waits for must not end the program.
    exitCode.catch(() => undefined);
    return {
      stdin,
      stdout,
      stderr,
      exitCode,
      release,
      kill: async () => {
        await group.killAll();
        group.removeIfEmpty();
      },
      isShortOfProcesses: words.first().then((word) => word === "" && !host.cgroup.hasRoom()),
    };
  } catch (error) {
    release();
    throw error;
  } finally {
    for (const fd of pipes.theirs) closeSync(fd);
  }
}

/** The sandbox may be removed by another process between any two steps. */
function openGroup(host: CommandHost): CommandGroup {
  try {
    return host.cgroup.openCommand();
  } catch (error) {
    throw host.supervisor.isAlive() ? error : lost(host.id);
  }
}

export function lost(id: string): SandboxError {
  return new SandboxError("lost", `sandbox ${id} is gone`);
}

interface ExitParts {
  readonly host: CommandHost;
  readonly group: CommandGroup;
  readonly words: EntranceWords;
  readonly ended: Promise<number | Error>;
}

async function settleExit({ host, group, words, ended }: ExitParts): Promise<number> {
  const exit = await ended;
  const word = await words.first();
  group.removeIfEmpty();
  if (exit instanceof Error)
    throw new SandboxError("unsupported", `the command cannot be started: ${exit.message}`);
  if (word.startsWith("cwd"))
    throw new SandboxError("not-found", "the command's working folder is missing");
  // Whoever ends a sandbox kills its commands too, and not in one instant.
  if (exit === KILLED) await delay(KILL_SPREAD_MS);
  if (!host.supervisor.isAlive()) throw lost(host.id);
  // Without a word: 126 and 127 say that the sandbox has no shell any more, 137 that it was killed.
  const answers = group.tellsMissingShell ? [126, 127, KILLED] : [KILLED];
  if (word === "" && !answers.includes(exit))
    throw new SandboxError("start-failed", `the command did not start (exit ${String(exit)})`);
  return exit;
}

function exitOf(child: ChildProcess): Promise<number | Error> {
  return new Promise((resolve) => {
    child.once("error", resolve);
    child.once("exit", (code, signal) => {
      resolve(signal === null ? (code ?? 0) : 128 + constants.signals[signal]);
    });
  });
}
