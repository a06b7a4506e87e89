import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** A process that does as its lines say, each with one line of answer. */
export interface Rival {
  readonly child: ChildProcess;
  ask(line: string): Promise<string>;
}

/** A real process that takes leases and claims; it ends with the test. */
export async function startRival(): Promise<Rival> {
  const script = fileURLToPath(new URL("take-lease.child.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", script], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exit;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    ask: async (line) => {
      child.stdin.write(`${line}\n`);
      const { value } = await lines.next();
      return String(value);
    },
  };
}
