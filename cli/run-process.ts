import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import type { CliContext, Output } from "./context.ts";
import { reportError } from "./report-error.ts";
import { restartProcess } from "./restart-process.ts";
import { runProgram } from "./run-program.ts";

const INTERRUPTED = 130;
/** As for every other place that cannot be written. */
const OUTPUT_LOST = 4;

/**
 * Wires a real process to the program: streams, signals, exit code. The first Ctrl-C or SIGTERM ends
 * cleanly, the second leaves at once. Whatever happens to the output (a reader that closed the pipe, a
 * log on a full disk, a terminal that is gone), the work goes on: results lie in the job folder. Only
 * what standard output lost for another reason than a closed pipe shows in the exit code.
 */
export async function runProcess(host: NodeJS.Process, args: readonly string[]): Promise<void> {
  // What lives is 14 MB however many trials run, and the memory of a run must not grow with them
  // (test/bench/results/local.json): the young generation keeps its first size, and the old one is
  // collected when it has grown by a fifth, not when it has doubled.
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=20");
  // Versions of AWS's SDK to come need a newer Node; ours is pinned, and that is no news for whoever runs a sweep.
  host.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    host.on(signal, () => {
      if (stop.signal.aborted) host.exit(INTERRUPTED);
      stop.abort(signal);
    });
  }
  let lostOutput: NodeJS.ErrnoException | null = null;
  host.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") lostOutput ??= error;
  });
  // There is nowhere left to say it.
  host.stderr.on("error", () => undefined);
  const context: CliContext = {
    cwd: host.cwd(),
    env: host.env,
    out: outputOf(host.stdout),
    err: outputOf(host.stderr),
    signal: stop.signal,
    restart: async (words) => await restartProcess(host, words),
  };
  try {
    host.exitCode = await runProgram(context, args);
  } catch (error) {
    host.exitCode = reportError(context, error, (trace) => writeCrashLog(context, trace));
  }
  // Also what was written last has its error by then.
  host.once("beforeExit", () => {
    if (lostOutput === null) return;
    context.err.write(`standard output is cut: ${lostOutput.message}\n`);
    if (host.exitCode === 0) host.exitCode = OUTPUT_LOST;
  });
}

function outputOf(stream: NodeJS.WriteStream): Output {
  return {
    write: (text) => void stream.write(text),
    get isTerminal() {
      return stream.isTTY;
    },
    get columns() {
      return stream.isTTY ? stream.columns : 80;
    },
  };
}

/** `$BENCHFLOW_LOG_DIR`, else `~/.cache/benchflow/logs` (spec 5.3); the trace itself if neither can be written. */
function writeCrashLog(context: CliContext, trace: string): string {
  const dir = context.env["BENCHFLOW_LOG_DIR"] ?? join(homedir(), ".cache/benchflow/logs");
  const path = join(dir, `crash-${new Date().toISOString().replaceAll(":", "-")}.log`);
  try {
    mkdirSync(dir, { recursive: true });
    writeFileSync(path, `${trace}\n`, { mode: 0o600 });
    return path;
  } catch {
    return `this trace:\n${trace}\n`;
  }
}
