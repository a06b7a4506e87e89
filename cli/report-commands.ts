import type { Command } from "commander";
import type { ReportOptions } from "./commands/report.ts";
import type { CliContext } from "./context.ts";
import { type Ending, newCommand } from "./new-command.ts";

/** `bench report`; the code behind it is loaded when it runs. */
export function reportCommand(context: CliContext, ending: Ending): Command {
  return newCommand("report", context)
    .summary("report scores with their intervals, conditions, controls and costs")
    .description(
      "Prints the report of a job, or of all jobs of a folder by setting, counted anew from the trials.\n\n" +
        "Example: bench report jobs/no-skills --out report.md",
    )
    .argument("[jobs]", "a jobs folder or one job", "jobs")
    .option("--format <format>", "md, json (the run card) or csv (a row a trial)", "md")
    .option(
      "--rules <rules>",
      "rc2, or rc1 for intervals over trials as BenchFlow 0.10.0rc1 has them",
      "rc2",
    )
    .option("--write-up", "the paragraphs to publish a result with")
    .option("--seed <n>", "seed of the resampled intervals (default: 0)")
    .option("--out <file>", "write there, whole or not at all, instead of to stdout")
    .action(async (jobs: string, options: ReportOptions) => {
      const { runReport } = await import("./commands/report.ts");
      ending.code = await runReport(context, jobs, options);
    });
}

/** `bench verify DIR|card`. */
export function verifyCommand(context: CliContext, ending: Ending): Command {
  return newCommand("verify", context)
    .summary("check results against themselves: every hash and every number again")
    .description(
      "Hashes every sealed file again, makes every summary, run card and report again from the trials, and names the\n" +
        "first difference.\n\nExample: bench verify jobs/no-skills",
    )
    .argument("<path>", "a job, a jobs folder or a run-card.json")
    .option("--json", "print every difference as JSON")
    .action(async (path: string, options: { json?: boolean }) => {
      const { runVerify } = await import("./commands/verify.ts");
      ending.code = await runVerify(context, path, options.json === true);
    });
}
