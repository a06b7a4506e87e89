import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";
import { SandboxError } from "../../core/ports/sandbox.ts";
import { bootCommand } from "./boot-script.ts";
import type { BootPlan } from "./boot-tables.ts";
import { JOIN_SCRIPT, NAMESPACES } from "./command/enter-sandbox.ts";
import { seeProcess } from "../processes.ts";
import { TOOL_ENV } from "../run-tool.ts";
import { launcherWords } from "./seccomp/launcher-words.ts";

const BOOT_TIMEOUT_MS = 60_000;

/**
 * The first process of a sandbox. It holds the namespaces, reaps orphans (a process that ignores
 * SIGCHLD has no zombies; neither dash nor perl can be told to, env can) and does nothing else. One capability that root inside has not keeps root inside from tracing it: the
 * sandbox of a trial that goes badly could otherwise be ended from inside, and the trial be had again.
 */
const FIRST_PROCESS = [
  "setpriv",
  "--no-new-privs",
  "--inh-caps=-all",
  "--bounding-set=-all,+wake_alarm",
  "env",
  "--ignore-signal=CHLD",
  "sleep",
  "infinity",
];

/**
 * Names the sandbox's folder in the environment of its first process, which nobody inside can read:
 * without cgroups whoever removes what a killed `bench` left finds the process by it.
 */
export const DIR_VARIABLE = "BENCH_SANDBOX_DIR";

/** In new namespaces, and killed with this process (PR_SET_PDEATHSIG, here and from unshare on). */
const UNSHARED = [
  "setpriv",
  "--pdeathsig",
  "KILL",
  "unshare",
  ...NAMESPACES,
  "--fork",
  "--kill-child=KILL",
  "--propagation",
  "private",
];

/** A running sandbox's first process, seen from the host. */
export interface Supervisor {
  readonly pid: number;
  readonly startTicks: string;
  /** Resolves when it has ended, and with it every process of the sandbox. */
  untilEnded(): Promise<void>;
  /** Whether the sandbox still lives, at this moment. */
  isAlive(): boolean;
}

export interface SupervisorOptions {
  readonly joinFiles: readonly string[];
  readonly seccomp: boolean;
  readonly signal: AbortSignal;
}

/**
 * Starts a sandbox and waits until it is ready. When this process is killed, the kernel kills the
 * sandbox too. Throws `start-failed` with the boot's own words.
 */
export async function startSupervisor(
  plan: BootPlan,
  { joinFiles, seccomp, signal }: SupervisorOptions,
): Promise<Supervisor> {
  const first = [...launcherWords(seccomp), ...FIRST_PROCESS];
  const child = spawn(
    "/bin/sh",
    [
      "-c",
      JOIN_SCRIPT,
      "bench-start",
      String(joinFiles.length),
      ...joinFiles,
      ...UNSHARED,
      ...bootCommand(plan, first),
    ],
    {
      stdio: ["ignore", "ignore", "pipe", "pipe"],
      env: { ...TOOL_ENV, [DIR_VARIABLE]: plan.dir },
      cwd: "/",
      detached: true,
    },
  );
  const ended = new Promise<void>((resolve) => {
    child.once("error", () => {
      resolve();
    });
    child.once("exit", () => {
      resolve();
    });
  });
  const pid = await readyPid(child, signal);
  // A sandbox that is up holds nobody's event loop: it ends with this process.
  child.unref();
  for (const stream of child.stdio) if (stream instanceof Socket) stream.unref();
  const startTicks = seeProcess(pid)?.startTicks ?? "";
  return {
    pid,
    startTicks,
    untilEnded: async () => {
      child.ref();
      await ended;
    },
    isAlive: () => {
      const sight = seeProcess(pid);
      return sight?.state === "running" && sight.startTicks === startTicks;
    },
  };
}

async function readyPid(child: ChildProcess, signal: AbortSignal): Promise<number> {
  let complaint = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    if (complaint.length < 4096) complaint += chunk.toString();
  });
  const words = child.stdio[3];
  const listening = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const settled = new Promise<number | string>((resolve) => {
    let answer = "";
    if (words instanceof Socket)
      words.on("data", (chunk: Buffer) => {
        answer += chunk.toString();
        const pid = /^ready (\d+)\n/u.exec(answer)?.[1];
        if (pid !== undefined) resolve(Number(pid));
      });
    child.once("error", (error) => {
      resolve(error.message);
    });
    child.once("close", () => {
      resolve(complaint.trim());
    });
    timer = setTimeout(() => {
      resolve(`it was not ready after ${String(BOOT_TIMEOUT_MS / 1000)} s`);
    }, BOOT_TIMEOUT_MS);
    const onAbort = (): void => {
      resolve("aborted");
    };
    signal.addEventListener("abort", onAbort, { signal: listening.signal });
  });
  try {
    signal.throwIfAborted();
    const outcome = await settled;
    signal.throwIfAborted();
    if (typeof outcome === "number") return outcome;
    throw new SandboxError("start-failed", `the sandbox did not start: ${outcome}`);
  } finally {
    clearTimeout(timer);
    listening.abort();
  }
}
