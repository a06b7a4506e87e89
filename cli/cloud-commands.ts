import type { Command } from "commander";
import type { CliContext } from "./context.ts";
import { type Ending, newCommand } from "./new-command.ts";

/** `bench cloud`: what a sweep needs in one's own account. */
export function cloudCommand(context: CliContext, ending: Ending): Command {
  const command = newCommand("cloud", context).summary(
    "deploy what `--env fargate` needs into your AWS account",
  );
  command.addCommand(
    newCommand("deploy", context)
      .summary("create or update the stack in the account and region of your credentials")
      .option("--synth-only", "write the template and deploy nothing")
      .option("--out <dir>", "with --synth-only: the folder to write to", "cdk.out")
      .option("--yes", "do not ask")
      .action(async (options: { synthOnly?: boolean; out: string; yes?: boolean }) => {
        const { runDeploy } = await import("./commands/cloud.ts");
        ending.code = await runDeploy(context, options);
      }),
  );
  return command;
}

/** `bench sync`: the results of a cloud run, here. */
export function syncCommand(context: CliContext, ending: Ending): Command {
  return newCommand("sync", context)
    .summary("bring a cloud run's results here")
    .description(
      "Mirrors the job of a cloud run into a jobs folder, also while the run goes on.\n\n" +
        "Example: bench sync 2026-11-30__11-45-00-1a2b3c4d",
    )
    .argument("<run>", "the run's name, as `bench run --env fargate` printed it")
    .option("--jobs-dir <dir>", "the jobs folder; as the run was started without it")
    .option("--verify", "hash every file here again")
    .action(async (run: string, options: { jobsDir?: string; verify?: boolean }) => {
      const { runSync } = await import("./commands/sync.ts");
      ending.code = await runSync(context, run, options);
    });
}
