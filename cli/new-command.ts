import { Command } from "commander";
import type { CliContext, ExitCode } from "./context.ts";

/** Where an action leaves its exit code; commander's actions return nothing. */
export interface Ending {
  code: ExitCode;
}

/** A command that throws instead of exiting and prints through the context. */
export function newCommand(name: string, context: CliContext): Command {
  return new Command(name)
    .exitOverride()
    .helpOption("--help", "show this help")
    .helpCommand(false)
    .configureOutput({
      writeOut: (text) => context.out.write(text),
      // Errors are thrown and printed once, in our own form.
      writeErr: () => undefined,
      getOutHelpWidth: () => Math.min(context.out.columns, 100),
    });
}
