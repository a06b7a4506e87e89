import { setTimeout as delay } from "node:timers/promises";
import { type Command, SandboxError } from "../../../core/ports/sandbox.ts";
import type { CommandGroup, SandboxGroup } from "../sandbox-group.ts";
import type { Supervisor } from "../start-supervisor.ts";
import type { EntranceWords } from "../../command/entrance-words.ts";
import { InputPipe } from "../../command/input-pipe.ts";
import { OutputPipe } from "../../command/output-pipe.ts";
import type { Gate, Gates } from "./gates.ts";

/** What a command needs of the sandbox that it runs in. */
export interface CommandHost {
  readonly id: string;
  readonly supervisor: Supervisor;
  readonly cgroup: SandboxGroup;
  readonly gates: Gates;
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
 * How often a command that did not come in is tried, which did nothing yet: killed processes count
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
    if (attempt === TRIES || !(await started.mayComeInYet)) return started;
    started.release();
    await delay(10 * 2 ** attempt);
  }
}

interface StartTry extends StartedCommand {
  /**
   * Whether it ended before it came in, because the sandbox could hold no more processes just then or
   * something had ended the gate that waited for it.
   */
  readonly mayComeInYet: Promise<boolean>;
}

async function tryStart(command: Command, host: CommandHost): Promise<StartTry> {
  if (!host.supervisor.isAlive()) throw lost(host.id);
  const gate = await openGate(command, host);
  const { group, words } = gate;
  const [inputFd, outputFd, errorsFd] = gate.fds;
  const stdin = new InputPipe(inputFd);
  const stdout = new OutputPipe(outputFd);
  const stderr = new OutputPipe(errorsFd);
  const late = setTimeout(() => void group.killAll(), ENTRANCE_LIMIT_MS);
  void words.first().finally(() => {
    clearTimeout(late);
  });
  const ended = gate.ended.finally(() => {
    stdout.commandOver();
    stderr.commandOver();
  });
  const release = (): void => {
    for (const pipe of [stdin, stdout, stderr]) pipe.close();
    host.commands.delete(open);
  };
  const open: OpenCommand = { ended, release };
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
    mayComeInYet: words
      .first()
      .then(
        (word) =>
          word === "" && host.supervisor.isAlive() && (gate.hasWaited || !host.cgroup.hasRoom()),
      ),
  };
}

/** The sandbox may be removed by another process between any two steps. */
async function openGate(command: Command, host: CommandHost): Promise<Gate> {
  try {
    return await host.gates.enter(command, host.supervisor);
  } catch (error) {
    if (error instanceof SandboxError || host.supervisor.isAlive()) throw error;
    throw lost(host.id);
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
  if (word.startsWith("exec "))
    throw new SandboxError("unsupported", `the command cannot be started: ${word.slice(5).trim()}`);
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
