import { spawn } from "node:child_process";
import { once } from "node:events";
import { SandboxError } from "../../../core/ports/sandbox.ts";
import { TOOL_ENV } from "../../run-tool.ts";

/**
 * Runs `use` while no other process of this machine holds the same lock file. The kernel holds the
 * lock (flock(2)), for a child that ends with us: there is no stale lock to judge.
 */
export async function withBuildLock<Value>(
  path: string,
  signal: AbortSignal,
  use: () => Promise<Value>,
): Promise<Value> {
  const child = spawn("flock", [path, "/bin/sh", "-c", "echo locked; exec cat > /dev/null"], {
    stdio: ["pipe", "pipe", "ignore"],
    env: TOOL_ENV,
    detached: true,
  });
  const ended = new Promise<void>((resolve) => {
    child.once("error", () => {
      resolve();
    });
    child.once("close", () => {
      resolve();
    });
  });
  child.stdin.on("error", () => undefined);
  try {
    const locked = once(child.stdout, "data", { signal });
    await Promise.race([locked, ended]);
    if (child.exitCode !== null || child.pid === undefined)
      throw new SandboxError("start-failed", `${path} cannot be locked`);
    return await use();
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    child.stdin.end();
    // A child that still waits for the lock does not read its stdin.
    if (signal.aborted) child.kill("SIGKILL");
    await ended;
  }
}
