import type { CliContext, ExitCode } from "../../cli/context.ts";
import { runProgram } from "../../cli/run-program.ts";

export interface Ran {
  readonly out: string;
  readonly err: string;
  readonly code: ExitCode;
}

/** Runs a command from source, in `cwd` and with no environment but `env`, and gives what it printed. */
export async function benchWith(
  env: Readonly<Record<string, string>>,
  cwd: string,
  ...args: string[]
): Promise<Ran> {
  const printed = { out: "", err: "" };
  const outputOf = (stream: "out" | "err") => ({
    write: (text: string) => {
      printed[stream] += text;
    },
    isTerminal: false,
    columns: 80,
  });
  const context: CliContext = {
    cwd,
    env,
    out: outputOf("out"),
    err: outputOf("err"),
    signal: new AbortController().signal,
  };
  const code = await runProgram(context, args);
  return { ...printed, code };
}

export async function bench(cwd: string, ...args: string[]): Promise<Ran> {
  return await benchWith({}, cwd, ...args);
}
