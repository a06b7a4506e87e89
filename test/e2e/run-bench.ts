import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The built command line: `npm test` builds it before the suites start. `BENCH_TEST_MAIN` names another build. */
export const BENCH = process.env["BENCH_TEST_MAIN"] ?? join(ROOT, "dist/cli/main.js");

export interface BenchRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface BenchOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stateDir?: string;
}

/** Runs the built `bench` to its end, as a person would. */
export async function runBench(args: readonly string[], options: BenchOptions): Promise<BenchRun> {
  const child = startBench(args, options);
  return await child.ended;
}

/** Starts it and lets the test signal it. */
export function startBench(
  args: readonly string[],
  options: BenchOptions,
): {
  readonly pid: number | undefined;
  kill: (signal: NodeJS.Signals) => void;
  ended: Promise<BenchRun>;
} {
  const state = options.stateDir === undefined ? {} : { BENCHFLOW_STATE_DIR: options.stateDir };
  const child = spawn(process.execPath, [BENCH, ...args], {
    cwd: options.cwd,
    env: { ...process.env, ...state, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  const ended = new Promise<BenchRun>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
  return { pid: child.pid, kill: (signal) => void child.kill(signal), ended };
}

/** A fresh folder that is removed with the test. */
export async function scratchDir(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "bench-e2e-"));
  return {
    path,
    [Symbol.asyncDispose]: async () => await rm(path, { recursive: true, force: true }),
  };
}
