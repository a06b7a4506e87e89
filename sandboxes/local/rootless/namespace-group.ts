import { readFileSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { SandboxError, type SandboxLimits } from "../../../core/ports/sandbox.ts";
import {
  type ProcessSight,
  allPids,
  killProcess,
  seeProcess,
  signalProcess,
} from "../../processes.ts";
import { runTool } from "../../run-tool.ts";
import type { CommandGroup, ProcessSet, SandboxGroup } from "../sandbox-group.ts";
import type { Supervisor } from "../start-supervisor.ts";
import { reaperWords } from "./reaper-words.ts";

const KILL_WAIT_MS = 20_000;
/** A process in an uninterruptible call stops late; killing goes on without it, in rounds. */
const FREEZE_WAIT_MS = 2000;

/** Sends a signal to every process of the pid namespace that it runs in, but the first one and itself, in one step. */
const SIGNAL_ALL = "kill $ARGV[0], -1";

/**
 * A sandbox's processes by its pid namespace, where no cgroup can be had. None can leave it: the system
 * call filter lets nobody inside make another one. Nothing is limited, and nothing is counted.
 */
export class NamespaceGroup implements SandboxGroup, ProcessSet {
  readonly joinFiles: readonly string[] = [];
  #first: { readonly supervisor: Supervisor; readonly namespace: string } | null = null;
  #maxProcesses = 0;
  #turn: Promise<unknown> = Promise.resolve();

  get tracked(): ProcessSet {
    return this;
  }

  /**
   * The kernel counts processes for each uid of the user namespace, over all sandboxes (getrlimit(2)):
   * no limit of a sandbox, but none makes more than its own, and a fork bomb has an end.
   */
  make({ pids }: SandboxLimits): void {
    this.#maxProcesses = Math.min(pids, hardProcessLimit());
  }

  /** Throws `start-failed` when the first process is gone already: nobody could be counted without it. */
  started(supervisor: Supervisor): void {
    const namespace = pidNamespaceOf(supervisor.pid);
    if (namespace === null)
      throw new SandboxError("start-failed", "the sandbox's first process ended at once");
    this.#first = { supervisor, namespace };
  }

  openCommand(): CommandGroup {
    return new NamespaceCommand(this, this.#maxProcesses);
  }

  /** Not known: another sandbox's processes may have taken the room of this one's uid. */
  hasRoom(): boolean {
    return false;
  }

  stats(): { peakMemoryBytes: null; oomKills: null; cpuSeconds: null } {
    return { peakMemoryBytes: null, oomKills: null, cpuSeconds: null };
  }

  processes(): ProcessSight[] {
    if (this.#first === null) return [];
    const { supervisor, namespace } = this.#first;
    const found = allPids()
      .filter((pid) => pidNamespaceOf(pid) === namespace)
      .map((pid) => seeProcess(pid))
      .filter((sight) => sight?.state === "running")
      .filter((sight) => sight !== null);
    // The number of a namespace is used again, but not while its first process lives.
    return supervisor.isAlive() ? found : [];
  }

  async kill(isWanted: (sight: ProcessSight) => boolean): Promise<number> {
    return await this.killAmong((sights) => sights.filter(isWanted));
  }

  /** The same, of those that `choose` picks among all of the sandbox's. */
  async killAmong(choose: (sights: readonly ProcessSight[]) => ProcessSight[]): Promise<number> {
    // One at a time: who is done would let go what another one holds.
    const turn = this.#turn.then(async () => await this.#killInTurn(choose));
    this.#turn = turn.catch(() => undefined);
    return await turn;
  }

  async #killInTurn(choose: (sights: readonly ProcessSight[]) => ProcessSight[]): Promise<number> {
    const deadlineMs = performance.now() + KILL_WAIT_MS;
    for (let round = 0; ; round += 1) {
      let left = 0;
      try {
        await this.#freeze();
        const targets = choose(this.processes());
        left = targets.length;
        for (const { pid } of targets) killProcess(pid);
      } finally {
        await this.#signalAll("CONT");
      }
      if (left === 0 || performance.now() > deadlineMs) return left;
      await delay(Math.min(1 + round, 20));
    }
  }

  /** A process that was in the middle of a fork stands still only when its child is there. */
  async #freeze(): Promise<void> {
    await this.#signalAll("STOP");
    const deadlineMs = performance.now() + FREEZE_WAIT_MS;
    const first = this.#first?.supervisor.pid;
    while (this.processes().some(({ pid, isStopped }) => pid !== first && !isStopped)) {
      if (performance.now() > deadlineMs) return;
      await delay(1);
    }
  }

  /** The first process takes all others along, and is gone only when they are (pid_namespaces(7)). */
  async end(): Promise<number> {
    if (this.#first === null) return 0;
    const { supervisor } = this.#first;
    if (!supervisor.isAlive()) return 0;
    killProcess(supervisor.pid);
    await supervisor.untilEnded();
    return 0;
  }

  async #signalAll(signal: "STOP" | "CONT"): Promise<void> {
    const supervisor = this.#first?.supervisor;
    if (supervisor?.isAlive() !== true) return;
    const enter = ["--target", String(supervisor.pid), "--pid", "--"];
    const sent = await runTool(["nsenter", ...enter, "perl", "-e", SIGNAL_ALL, signal]);
    if (sent.exitCode !== 0 && supervisor.isAlive())
      throw new SandboxError(
        "start-failed",
        `a sandbox cannot be signalled: ${sent.stderr.trim()}`,
      );
  }
}

/** A command by its descent: all that it started has its entrance as an ancestor while that lives. */
class NamespaceCommand implements CommandGroup {
  readonly joinFiles: readonly string[] = [];
  readonly entering: CommandGroup["entering"];
  readonly tellsMissingShell = false;
  readonly #sandbox: NamespaceGroup;
  #entrance: ProcessSight | null = null;

  constructor(sandbox: NamespaceGroup, maxProcesses: number) {
    this.#sandbox = sandbox;
    this.entering = {
      // While it waits it keeps a dead process of the sandbox, and with that the sandbox, in being.
      before: ["setpriv", "--pdeathsig", "KILL", "--"],
      options: ["--no-fork"],
      // The limit is the command's alone: its entrance must always come in.
      words: [...reaperWords(), "prlimit", `--nproc=${String(maxProcesses)}`, "--"],
    };
  }

  started(entrancePid: number): void {
    this.#entrance = seeProcess(entrancePid);
  }

  async killAll(): Promise<number> {
    const entrance = this.#entrance;
    if (entrance === null || !isSame(entrance)) return 0;
    // It forks once, on its way in: after this not any more.
    signalProcess(entrance.pid, "SIGSTOP");
    // Its reaper last: whatever is left of a round has that as its parent, and is found again.
    const left =
      (await this.#sandbox.killAmong((sights) =>
        descendantsOf(entrance.pid, sights).filter(({ parent }) => parent !== entrance.pid),
      )) + (await this.#sandbox.killAmong((sights) => descendantsOf(entrance.pid, sights)));
    if (isSame(entrance)) killProcess(entrance.pid);
    return left;
  }

  removeIfEmpty(): void {
    // Nothing on the machine names it.
  }
}

function isSame({ pid, startTicks }: ProcessSight): boolean {
  const sight = seeProcess(pid);
  return sight !== null && sight.startTicks === startTicks && sight.state !== "ended";
}

function descendantsOf(ancestor: number, sights: readonly ProcessSight[]): ProcessSight[] {
  const parents = new Map(sights.map(({ pid, parent }) => [pid, parent]));
  return sights.filter(({ parent }) => {
    let at: number | undefined = parent;
    for (let steps = 0; at !== undefined && steps <= sights.length; steps += 1) {
      if (at === ancestor) return true;
      at = parents.get(at);
    }
    return false;
  });
}

/** Null for a process that is gone, or is another user's. */
function pidNamespaceOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${String(pid)}/ns/pid`);
  } catch {
    return null;
  }
}

/** A hard limit that is lower already cannot be raised. */
function hardProcessLimit(): number {
  const limits = readFileSync("/proc/self/limits", "utf8");
  const hard = /^Max processes\s+\S+\s+(\d+)/mu.exec(limits)?.[1];
  return hard === undefined ? Number.POSITIVE_INFINITY : Number(hard);
}
