import { BenchError } from "../core/errors.ts";
import { ControlAgent, type RunSettings } from "../core/model/settings.ts";
import type { Agent } from "../runner/agents/agent.ts";
import { chooseAgent } from "../runner/agents/choose-agent.ts";
import { readOwnAgent } from "./own-agent-file.ts";

/**
 * The agent of a run's settings. Throws `BenchError` (`usage`) where there is none of that name, or none
 * in that place: before an account is asked, a key is looked for or anything is created.
 */
export async function chooseRunAgent({
  agent: name,
  environment,
  reasoningEffort: effort,
  agentFile,
}: Pick<RunSettings, "agent" | "environment" | "reasoningEffort" | "agentFile">): Promise<Agent> {
  const own = agentFile === null ? null : await readOwnAgent(agentFile);
  const chosen = chooseAgent(name, { effort }, own);
  const agent = own === null ? chosen : { ...chosen, ownFile: own };
  if (environment === "fargate" && !ControlAgent.safeParse(name).success)
    throw new BenchError("usage", `agent ${name} is not built yet for --env fargate`, {
      next: "use `-a oracle` or `-a nop` there, or `--env docker`",
    });
  return agent;
}
