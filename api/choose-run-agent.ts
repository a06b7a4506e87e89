import { BenchError } from "../core/errors.ts";
import { ControlAgent, type RunSettings } from "../core/model/settings.ts";
import type { Agent } from "../runner/agents/agent.ts";
import type { AgentWishes } from "../runner/agents/agent-wishes.ts";
import { chooseControl } from "../runner/agents/choose-control.ts";

/**
 * The agent of a run's settings. Throws `BenchError` (`usage`) where there is none of that name, or none
 * in that place: before an account is asked, a key is looked for or anything is created.
 */
export async function chooseRunAgent(settings: RunSettings): Promise<Agent> {
  const { agent: name, environment, prompts, extraInstructions } = settings;
  checkUserName(settings.sandboxUser);
  const wishes = {
    effort: settings.reasoningEffort,
    env: settings.agentEnv,
    hasPrompts: prompts.length + extraInstructions.length > 0,
    hasSkills: settings.skillMode === "with-skill",
  };
  const agent = chooseControl(name, wishes) ?? (await loadAgent(settings, wishes));
  if (environment === "fargate" && !ControlAgent.safeParse(name).success)
    throw new BenchError("usage", `agent ${name} is not built yet for --env fargate`, {
      next: "use `-a oracle` or `-a nop` there, or `--env docker`",
    });
  if (environment === "fargate" && settings.skillMode !== "no-skill")
    throw new BenchError("usage", "--skill-mode with-skill is not built yet for --env fargate", {
      next: "leave it out there, or use `--env docker`",
    });
  return agent;
}

/** The agents of this edition and their locks are loaded on first use: a control's run needs none. */
async function loadAgent(
  { agent: name, agentFile }: RunSettings,
  wishes: AgentWishes,
): Promise<Agent> {
  const { chooseAgent } = await import("../runner/agents/choose-agent.ts");
  if (agentFile === null) return chooseAgent(name, wishes);
  const { readOwnAgent } = await import("./own-agent-file.ts");
  const ownFile = await readOwnAgent(agentFile);
  return { ...chooseAgent(name, wishes, ownFile), ownFile };
}

/** An agent as root could change what it is judged by; a name of the system's would be another user. */
function checkUserName(name: string): void {
  const isRoot = ["none", "null", "root", "0"].includes(name);
  if (!isRoot && /^[a-z_][a-z0-9_-]{0,31}$/u.test(name)) return;
  const why = isRoot
    ? "an agent that is root cannot be kept apart from its verifier"
    : "a name of small letters, digits, _ and - is wanted";
  throw new BenchError("usage", `--sandbox-user ${JSON.stringify(name)}: ${why}`, {
    next: "leave it out, or give a name such as `agent`",
  });
}
