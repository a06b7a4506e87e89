import { type Command, CommanderError, Option } from "commander";
import { BenchError } from "../core/errors.ts";
import { cloudCommand, syncCommand } from "./cloud-commands.ts";
import { agentsCommand } from "./agents-command.ts";
import type { CliContext, ExitCode } from "./context.ts";
import { type Ending, newCommand } from "./new-command.ts";
import { inOwnNamespace } from "./own-namespace.ts";
import { reportCommand, verifyCommand } from "./report-commands.ts";
import { runCommand } from "./run-command.ts";
import { VERSION } from "../core/tool-version.ts";

/** Commands of BenchFlow, or of this edition's plan, that do not exist yet: refused by name. */
const UNBUILT_COMMANDS: readonly string[] = [
  "compare",
  "regrade",
  "review",
  "view",
  "metrics",
  "traj",
  "watch",
  "status",
  "logs",
  "throttle",
  "cancel",
];

/**
 * Parses the arguments and runs one command; each command's code is loaded when it is asked for.
 * Throws `BenchError` of kind `usage` for anything that cannot be parsed.
 */
export async function runProgram(host: CliContext, args: readonly string[]): Promise<ExitCode> {
  const context: CliContext = { ...host, args };
  const ending: Ending = { code: 0 };
  const program = newCommand("bench", context)
    .description("run coding agents on folders of tasks, and report scores that can be checked")
    .version(VERSION, "-V, --version", "print the version")
    .helpCommand("help [command]", "show the help of a command");
  const evaluation = newCommand("eval", context).description(
    "BenchFlow's names for these commands",
  );
  for (const parent of [program, evaluation]) {
    parent.addCommand(runCommand(context, ending));
    parent.addCommand(resultsCommand(context, ending), { hidden: parent === evaluation });
    parent.addCommand(reportCommand(context, ending), { hidden: parent === evaluation });
  }
  program.addCommand(evaluation, { hidden: true });
  program.addCommand(tasksCommand(context, ending));
  program.addCommand(sandboxCommand(context, ending));
  program.addCommand(agentsCommand(context, ending));
  program.addCommand(verifyCommand(context, ending));
  program.addCommand(doctorCommand(context, ending));
  program.addCommand(cloudCommand(context, ending));
  program.addCommand(syncCommand(context, ending));
  for (const name of UNBUILT_COMMANDS)
    program.addCommand(unbuiltCommand(name, context), { hidden: true });

  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    throw usageError(error, namedCommand(program, args));
  }
  return ending.code;
}

/** The words that name a command, as far as there are such commands: `bench cloud` for `cloud destroy`. */
function namedCommand(program: Command, args: readonly string[]): string {
  const names = [program.name()];
  let command = program;
  for (const word of args.filter((each) => !each.startsWith("-"))) {
    const found = command.commands.find(
      (each) => each.name() === word || each.aliases().includes(word),
    );
    if (found === undefined) break;
    names.push(word);
    command = found;
  }
  return names.join(" ");
}

function usageError(error: CommanderError, command: string): BenchError {
  const what =
    error.code === "commander.help" ? "no command given" : error.message.replace(/^error: /u, "");
  const next = /^bench (?:eval )?(?:run|create)$/u.test(command)
    ? `\`${command} --help-all\` lists every flag`
    : `\`${command} --help\` lists what there is`;
  return new BenchError("usage", what, { next });
}

function resultsCommand(context: CliContext, ending: Ending): Command {
  return newCommand("results", context)
    .alias("list")
    .summary("show the jobs of a folder and their scores")
    .description(
      "Shows one line a job with its score and its control.\n\nExample: bench results jobs",
    )
    .argument("[jobs]", "a jobs folder or one job", "jobs")
    .option("--json", "print the documented JSON")
    .action(async (jobs: string, options: { json?: boolean }) => {
      const { runResults } = await import("./commands/results.ts");
      ending.code = await runResults(context, jobs, options.json === true);
    });
}

function tasksCommand(context: CliContext, ending: Ending): Command {
  const command = newCommand("tasks", context).summary("list, check, digest and start tasks");
  command.addCommand(
    newCommand("list", context)
      .summary("list the tasks of a folder")
      .argument("<path>")
      .option("--json", "print as JSON")
      .action(async (path: string, options: { json?: boolean }) => {
        const { listTasks } = await import("./commands/tasks.ts");
        ending.code = await listTasks(context, path, options.json === true);
      }),
  );
  command.addCommand(
    newCommand("check", context)
      .summary("check tasks, and with --controls run oracle and nop on them")
      .argument("<path>")
      .option("--controls", "run the oracle (must pass) and nop (must not)")
      .addOption(new Option("--env <kind>", "sandbox for the controls").default("docker"))
      .action(async (path: string, options: { controls?: boolean; env: string }) => {
        const isLocal = options.controls === true && options.env === "local";
        const check = async (): Promise<ExitCode> => {
          const { checkTasks } = await import("./commands/tasks.ts");
          return await checkTasks(context, path, options);
        };
        ending.code = isLocal ? await inOwnNamespace(context, check) : await check();
      }),
  );
  command.addCommand(
    newCommand("digest", context)
      .summary("print each task's digest")
      .argument("<path>")
      .action(async (path: string) => {
        const { digestTasks } = await import("./commands/tasks.ts");
        ending.code = await digestTasks(context, path);
      }),
  );
  command.addCommand(
    newCommand("init", context)
      .summary("write a minimal task that passes its controls")
      .argument("<path>")
      .option("--native", "the task.md layout")
      .action(async (path: string, options: { native?: boolean }) => {
        const { initTasks } = await import("./commands/tasks.ts");
        ending.code = await initTasks(context, path, options.native === true);
      }),
  );
  return command;
}

function sandboxCommand(context: CliContext, ending: Ending): Command {
  const command = newCommand("sandbox", context).summary("list and remove sandboxes left behind");
  command.addCommand(
    newCommand("list", context)
      .summary("list the sandboxes of this machine and who made them")
      .option("--json", "print as JSON")
      .action(async (options: { json?: boolean }) => {
        ending.code = await inOwnNamespace(context, async () => {
          const { listSandboxes } = await import("./commands/sandbox.ts");
          return await listSandboxes(context, options.json === true);
        });
      }),
  );
  command.addCommand(
    newCommand("prune", context)
      .summary("remove sandboxes whose run is dead; never another's")
      .option("--images", "also remove the images that runs built and keep as cache")
      .action(async (options: { images?: boolean }) => {
        ending.code = await inOwnNamespace(context, async () => {
          const { pruneSandboxes } = await import("./commands/sandbox.ts");
          return await pruneSandboxes(context, options.images === true);
        });
      }),
  );
  return command;
}

function doctorCommand(context: CliContext, ending: Ending): Command {
  return newCommand("doctor", context)
    .summary("show what works here, with the next step for what does not")
    .argument("[tasks]", "a folder of tasks: how many of them each kind of sandbox can run")
    .option("--json", "print as JSON")
    .action(async (tasks: string | undefined, options: { json?: boolean }) => {
      ending.code = await inOwnNamespace(context, async () => {
        const { runDoctor } = await import("./commands/doctor.ts");
        return await runDoctor(context, tasks, options.json === true);
      });
    });
}

function unbuiltCommand(name: string, context: CliContext): Command {
  return newCommand(name, context)
    .argument("[words...]")
    .allowUnknownOption()
    .action(() => {
      throw new BenchError("usage", `bench ${name} is not built yet in this edition`, {
        next: "`bench --help` lists the commands",
      });
    });
}
