import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { join } from "node:path";

/** Where this machine's own programs are looked for: never the caller's PATH. */
export const TOOL_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/** The environment of a host program: nothing of a task and nothing of the user reaches it. */
export const TOOL_ENV: Readonly<Record<string, string>> = { PATH: TOOL_PATH, LC_ALL: "C" };

/** Absolute path of a program of this machine; null when there is none. */
export function findTool(name: string): string | null {
  const paths = TOOL_PATH.split(":").map((dir) => join(dir, name));
  return paths.find((path) => isExecutable(path)) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface ToolResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const MAX_OUTPUT_BYTES = 1024 * 1024;

/**
 * Runs a program of this machine (no shell, fixed environment, no stdin) and waits for it. A program
 * that is not there ends with 127. Output beyond 1 MiB is cut.
 */
export async function runTool(argv: readonly [string, ...string[]]): Promise<ToolResult> {
  const [program, ...args] = argv;
  const child = spawn(program, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: TOOL_ENV,
    cwd: "/",
    detached: true,
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    if (output.stdout.length < MAX_OUTPUT_BYTES) output.stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    if (output.stderr.length < MAX_OUTPUT_BYTES) output.stderr += chunk.toString();
  });
  return await new Promise((resolve) => {
    child.once("error", (error) => {
      resolve({ exitCode: 127, stdout: "", stderr: error.message });
    });
    child.once("close", (code) => {
      resolve({ exitCode: code ?? 128, ...output });
    });
  });
}
