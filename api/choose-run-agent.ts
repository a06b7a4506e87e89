import { BenchError } from "../core/errors.ts";
import { ControlAgent, type RunSettings } from "../core/model/settings.ts";
import type { Agent } from "../runner/agents/agent.ts";
import { chooseAgent } from "../runner/agents/choose-agent.ts";

/**
 * The agent of a run's settings. Throws `BenchError` (`usage`) where there is none of that name, or none
 * in that place: before an account is asked, a key is looked for or anything is created.
 */
export function chooseRunAgent({
  agent: name,
  environment,
  reasoningEffort: effort,
}: Pick<RunSettings, "agent" | "environment" | "reasoningEffort">): Agent {
  const agent = chooseAgent(name, { effort });
  if (environment === "fargate" && !ControlAgent.safeParse(name).success)
    throw new BenchError("usage", `agent ${name} is not built yet for --env fargate`, {
      next: "use `-a oracle` or `-a nop` there, or `--env docker`",
    });
  return agent;
}
