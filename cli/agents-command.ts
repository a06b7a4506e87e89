import { type Command, Option } from "commander";
import type { CliContext } from "./context.ts";
import { type Ending, newCommand } from "./new-command.ts";

/** `bench agents`: the programs of agents on this computer. */
export function agentsCommand(context: CliContext, ending: Ending): Command {
  const command = newCommand("agents", context).summary(
    "list, install and remove agents' programs",
  );
  command.addCommand(
    newCommand("list", context)
      .summary("list the agents of this edition, and which are installed here")
      .option("--json", "print as JSON")
      .action(async (options: { json?: boolean }) => {
        const { listAgents } = await import("./commands/agents.ts");
        ending.code = await listAgents(context, options.json === true);
      }),
  );
  command.addCommand(
    newCommand("install", context)
      .summary("fetch agents' programs now; a run fetches what it lacks by itself")
      .argument("[names...]", "agents; none for all")
      .addOption(
        new Option("--platform <platform>", "of the sandboxes; this computer's by default").choices(
          ["linux/amd64", "linux/arm64"],
        ),
      )
      .action(async (names: string[], options: { platform?: string }) => {
        const { installNamedAgents } = await import("./commands/agents.ts");
        const { platform = null } = options;
        ending.code = await installNamedAgents(context, { names, platform });
      }),
  );
  command.addCommand(
    newCommand("lock", context)
      .summary("write down the whole tree of packages of an agent of your own, for --agent-file")
      .argument("<file>", "the agent's file")
      .action(async (file: string) => {
        const { lockOwnAgent } = await import("./commands/agents.ts");
        ending.code = await lockOwnAgent(context, file);
      }),
  );
  command.addCommand(
    newCommand("prune", context)
      .summary("remove programs that no agent of this edition uses; never those of a live run")
      .option("--all", "remove the others too")
      .action(async (options: { all?: boolean }) => {
        const { pruneInstalledAgents } = await import("./commands/agents.ts");
        ending.code = await pruneInstalledAgents(context, options.all === true);
      }),
  );
  return command;
}
