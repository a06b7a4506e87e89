import { BenchError, type ErrorKind, messageOf } from "../core/errors.ts";
import type { CliContext, ExitCode } from "./context.ts";

const EXIT_CODES: Readonly<Record<ErrorKind, ExitCode>> = {
  usage: 2,
  config: 2,
  unavailable: 4,
  interrupted: 130,
  bug: 70,
};

/**
 * The one place that prints an error: what is wrong, then the one next step (spec 5.3). Anything
 * that is not a `BenchError` is a bug of ours; its trace goes to `writeCrashLog`, which names the file.
 */
export function reportError(
  context: CliContext,
  thrown: unknown,
  writeCrashLog: (trace: string) => string,
): ExitCode {
  if (thrown instanceof BenchError && thrown.kind !== "bug") {
    context.err.write(`${thrown.message}\n  next: ${thrown.next}\n`);
    return EXIT_CODES[thrown.kind];
  }
  const trace = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  const name = thrown instanceof Error ? thrown.name : typeof thrown;
  const path = writeCrashLog(trace);
  context.err.write(
    `unexpected error (${name}: ${messageOf(thrown)}); this is a bug in benchflow-cloud\n` +
      `  next: send ${path} with your report\n`,
  );
  return EXIT_CODES.bug;
}
