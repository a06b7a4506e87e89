import { spawn } from "node:child_process";
import { BenchError } from "../core/errors.ts";
import type { ExitCode } from "./context.ts";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP", "SIGWINCH"] as const;
const CODES: readonly ExitCode[] = [0, 1, 2, 4, 70, 130];

/**
 * Runs the command line of `host` again behind other words, with its streams, and resolves to how that
 * ended. It is a session of its own, so that a Ctrl-C reaches it once: from here.
 */
export async function restartProcess(
  host: NodeJS.Process,
  words: readonly [string, ...string[]],
): Promise<ExitCode> {
  const [program, ...rest] = words;
  const child = spawn(program, [...rest, host.execPath, ...host.execArgv, ...host.argv.slice(1)], {
    stdio: "inherit",
    detached: true,
  });
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of FORWARDED) host.on(signal, forward);
  try {
    return await new Promise<ExitCode>((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (code, signal) => {
        const known = CODES.find((each) => each === code);
        if (known !== undefined) resolve(known);
        else
          reject(
            new BenchError(
              "unavailable",
              `bench was ended in its user namespace: ${signal ?? `exit code ${String(code)}`}`,
              { next: "run the same command again: it goes on where this one stopped" },
            ),
          );
      });
    });
  } finally {
    for (const signal of FORWARDED) host.off(signal, forward);
  }
}
