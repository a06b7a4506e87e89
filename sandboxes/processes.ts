import { readFileSync, readdirSync } from "node:fs";
import { codeOf } from "../host/error-code.ts";

/** A process of this machine as `/proc` shows it at one moment. */
export interface ProcessSight {
  readonly pid: number;
  /** Clock ticks since boot: with the pid, a name that is never reused. */
  readonly startTicks: string;
  /** Pid of its parent; 0 when that lives outside of our pid namespace. */
  readonly parent: number;
  /** Pid of the process that began its session. */
  readonly session: number;
  /**
   * `ending` runs no more code of its own, `ended` (a zombie) has let go of all that it held. One whose
   * first thread alone has ended looks like a zombie, and goes on running.
   */
  readonly state: "running" | "ending" | "ended";
  /** Whether a signal or a tracer holds it. */
  readonly isStopped: boolean;
  /** Real, effective, saved and file-system uid. */
  readonly uids: readonly number[];
  /** Pid namespaces below ours that it lives in: 0 for a process of the host. */
  readonly depth: number;
}

/** PF_EXITING of the kernel's sched.h: set from the first moment of a process's end. */
const EXITING_FLAG = 0x4;
/** Bit of SIGKILL in a signal mask: a process that it waits for will run no more code of its own. */
const KILL_PENDING = 0x100n;

/** The process, or null when there is none of that pid. */
export function seeProcess(pid: number): ProcessSight | null {
  const stat = readProc(pid, "stat");
  const status = readProc(pid, "status");
  if (stat === null || status === null) return null;
  // Fields are counted from behind the name, which may hold blanks and brackets (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // The state and the flags are the first thread's alone.
  const hasOneThread = Number(fields[17]) <= 1;
  const hasEnded = (fields[0] === "Z" || fields[0] === "X") && hasOneThread;
  const isKilled = /^S[ih][gd]Pnd:\s*([0-9a-f]+)$/gmu;
  const isEnding =
    (hasOneThread && (Number(fields[6]) & EXITING_FLAG) !== 0) ||
    [...status.matchAll(isKilled)].some(
      ([, mask]) => (BigInt(`0x${mask ?? "0"}`) & KILL_PENDING) !== 0n,
    );
  return {
    pid,
    startTicks: fields[19] ?? "",
    parent: Number(fields[1]),
    session: Number(fields[3]),
    state: hasEnded ? "ended" : isEnding ? "ending" : "running",
    isStopped: fields[0] === "T" || fields[0] === "t",
    uids: numbersOf(status, "Uid"),
    depth: Math.max(0, numbersOf(status, "NSpid").length - 1),
  };
}

/** The pid and start of a process, as one word: what a `ProcessMark` holds. */
export function markOf(sight: ProcessSight): string {
  return `${String(sight.pid)}@${sight.startTicks}`;
}

/**
 * Whether one of the marked processes is a process's parent or above it. One whose parent has ended
 * descends from whoever reaps orphans.
 */
export function descendsFrom(sight: ProcessSight, marks: ReadonlySet<string>): boolean {
  if (marks.size === 0) return false;
  for (let pid = sight.parent; pid > 1;) {
    const above = seeProcess(pid);
    if (above === null) return false;
    if (marks.has(markOf(above))) return true;
    pid = above.parent;
  }
  return false;
}

/** Pids of all processes of this machine. */
export function allPids(): number[] {
  return readdirSync("/proc").filter(isDigits).map(Number);
}

/** Arguments of a process; empty when it is gone or a kernel thread. */
export function argumentsOf(pid: number): string[] {
  return (readProc(pid, "cmdline") ?? "").split("\0");
}

/** Environment of a process, `NAME=value` each; empty when it is gone or not ours to read. */
export function variablesOf(pid: number): string[] {
  return (readProc(pid, "environ") ?? "").split("\0");
}

/** Text of a process's /proc/{pid}/cgroup; empty when it is gone. */
export function groupsOf(pid: number): string {
  return readProc(pid, "cgroup") ?? "";
}

/** Sends SIGKILL; a process that is gone already is what was wanted. */
export function killProcess(pid: number): void {
  signalProcess(pid, "SIGKILL");
}

/** Sends a signal to a process, if it is still there. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}

function isDigits(name: string): boolean {
  return /^\d+$/u.test(name);
}

function numbersOf(status: string, key: string): number[] {
  const line = new RegExp(`^${key}:(.*)$`, "mu").exec(status)?.[1] ?? "";
  return line.trim().split(/\s+/u).filter(isDigits).map(Number);
}

/** A process may end between any two reads: then there is nothing to read. */
function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${String(pid)}/${file}`, "latin1");
  } catch {
    return null;
  }
}
