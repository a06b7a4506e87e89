import { type Command, Option } from "commander";
import { BenchError } from "../core/errors.ts";
import type { CliContext, ExitCode } from "./context.ts";
import { type Ending, newCommand } from "./new-command.ts";
import { inOwnNamespace } from "./own-namespace.ts";
import type { Draft } from "./run-flag.ts";
import { RUN_FLAGS } from "./run-flags.ts";
import { UNBUILT_RUN_FLAGS } from "./unbuilt-run-flags.ts";

/** `bench run`, with every flag of `RunSettings`; the code behind it is loaded when it runs. */
export function runCommand(context: CliContext, ending: Ending): Command {
  const draft: Draft = {};
  const command = newCommand("run", context)
    .alias("create")
    .summary("run an agent on every task of a folder")
    .description(
      "Runs an agent on every task of a folder, several at a time, and repeats each as often as asked.\n" +
        "The same command again resumes the job where it stopped.\n\n" +
        "Example: bench run examples/tasks -a oracle --env local",
    )
    .argument("[tasks]", "a task folder, or a folder of tasks")
    .option("--dry-run", "show what would run, and create nothing")
    .option("--explain", "with --dry-run: each trial's decision and its reason")
    .option("--json", "print machine-readable results on stdout")
    .option("--quiet", "no line per trial, only the final block")
    .option("--help-all", "this help with every flag");
  for (const flag of RUN_FLAGS) {
    const option = new Option(flag.flags, flag.help).hideHelp(flag.hidden === true);
    command.addOption(
      option.argParser((value: string) => {
        flag.set(draft, value, option.short ?? option.long ?? flag.flags);
        return value;
      }),
    );
    // Flags without a value never reach argParser.
    if (!option.required && !option.optional)
      command.on(`option:${option.name()}`, () => flag.set(draft, "", flag.flags));
  }
  addHiddenRunOptions(command);
  return command.action(async (tasks: string | undefined, options: RunOptions) => {
    if (options.helpAll === true) {
      showEveryOption(command);
      return;
    }
    refuseUnbuilt(options);
    const run = async (): Promise<ExitCode> => {
      const { runRun } = await import("./commands/run.ts");
      return await runRun(context, tasks, draft, options);
    };
    const isLocal = draft.environment === "local";
    ending.code = isLocal ? await inOwnNamespace(context, run) : await run();
  });
}

/** What `bench run` takes besides the settings. */
export interface RunOptions {
  readonly dryRun?: boolean;
  readonly explain?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly helpAll?: boolean;
  readonly tasksDir?: string;
  readonly dataset?: string;
  readonly baseImageMap?: string;
}

function hidden(flags: string, help: string): Option {
  return new Option(flags, help).hideHelp();
}

function addHiddenRunOptions(command: Command): void {
  command.addOption(hidden("--tasks-dir <dir>", "long form of the task folder"));
  command.addOption(hidden("-d, --dataset <name@version>", "a registry dataset"));
  command.addOption(
    hidden("--base-image-map <file>", "JSON object: FROM reference to local image"),
  );
  for (const flags of UNBUILT_RUN_FLAGS) command.addOption(hidden(flags, "not built yet"));
}

function showEveryOption(command: Command): void {
  for (const option of command.options) option.hideHelp(false);
  command.outputHelp();
}

function refuseUnbuilt(options: object): void {
  const given = new Set(Object.keys(options));
  for (const flags of UNBUILT_RUN_FLAGS) {
    const option = new Option(flags);
    if (given.has(option.attributeName()))
      throw new BenchError("usage", `${option.long ?? flags} is not built yet in this edition`, {
        next: "run without it; `bench run --help-all` lists every flag",
      });
  }
}
