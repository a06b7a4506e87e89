import type { SandboxLimits, SandboxStats } from "../../core/ports/sandbox.ts";
import type { ProcessSight } from "../processes.ts";
import type { Supervisor } from "./start-supervisor.ts";

/** Processes of a sandbox that cannot leave it, whatever they fork and wherever they reparent to. */
export interface ProcessSet {
  /** Those that run. */
  processes(): ProcessSight[];
  /**
   * Kills every process that `isWanted` says until none is left, and resolves to the count last seen:
   * 0, unless something cannot die. They stand still while they are searched.
   */
  kill(isWanted: (sight: ProcessSight) => boolean): Promise<number>;
  /** Kills all, and resolves when they are gone; to the count left. */
  end(): Promise<number>;
}

/** One command's processes, its daemons too. */
export interface CommandGroup {
  /** Files that the command's first process joins the sandbox's and its own group by. */
  readonly joinFiles: readonly string[];
  /** Words before nsenter, options of it, and words between it and the program that loads the filter. */
  readonly entering: Readonly<Record<"before" | "options" | "words", readonly string[]>>;
  /**
   * Whether a command that ended before it came in with 126 or 127 can only have found no shell; else
   * it may have found no room for a process, and its code is no answer.
   */
  readonly tellsMissingShell: boolean;
  /** Names the process that the command was started as, on the host. */
  started(entrancePid: number): void;
  /** Kills every process in it, and resolves when none runs any more; to the count left, mostly 0. */
  killAll(): Promise<number>;
  /** Removes what names it on the machine, when nothing lives in it any more. */
  removeIfEmpty(): void;
}

/** What holds a sandbox's processes together: cgroups, or its pid namespace where there are none. */
export interface SandboxGroup {
  readonly tracked: ProcessSet;
  /** Files that the sandbox's first process joins by. */
  readonly joinFiles: readonly string[];
  make(limits: SandboxLimits): void;
  /** Names the sandbox's first process, before any command. */
  started(supervisor: Supervisor): void;
  openCommand(): CommandGroup;
  /** Whether one more command would find room for its processes; asked of one that never came in. */
  hasRoom(): boolean;
  stats(): Omit<SandboxStats, "diskBytes">;
}
