import { BenchError } from "../../core/errors.ts";
import { acpAgent } from "./acp-agent.ts";
import type { Agent } from "./agent.ts";
import { type AgentWishes, refuseForAgent } from "./agent-wishes.ts";
import { chooseControl } from "./choose-control.ts";
import { commandAgent } from "./command-agent.ts";
import { KNOWN_AGENTS, type KnownAgent } from "./known-agents.ts";

/** Agents that BenchFlow has and this edition does not have yet, by every name they go by. */
const UNBUILT: ReadonlySet<string> = new Set(["mimo", "openhands", "openclaw", "deepagents"]);

/** Whether a person's own agent cannot be called so. */
export function isTakenName(name: string): boolean {
  const isKnown = KNOWN_AGENTS.some(
    ({ definition }) => definition.name === name || definition.aliases.includes(name),
  );
  return isKnown || name === "acp" || UNBUILT.has(name) || chooseControl(name) !== null;
}

/**
 * The agent of that name or alias, or the person's own, whatever it is called. Throws `BenchError`
 * (`usage`) before anything is created.
 */
export function chooseAgent(
  name: string,
  wishes: AgentWishes = {},
  own: KnownAgent | null = null,
): Agent {
  const control = chooseControl(name, wishes);
  if (control !== null) return control;
  const known = own ?? (name.startsWith("acp:") ? commandAgent(name) : findAgent(name));
  refuseForAgent(name, { definition: known.definition, wishes });
  const { effort = null, env = {} } = wishes;
  return acpAgent(known, { effort, env });
}

function findAgent(name: string): KnownAgent {
  const found = KNOWN_AGENTS.find(
    ({ definition }) => definition.name === name || definition.aliases.includes(name),
  );
  if (found !== undefined) return found;
  const what = UNBUILT.has(name)
    ? `agent ${name} is not built yet in this edition`
    : `there is no agent ${JSON.stringify(name)}`;
  const names = KNOWN_AGENTS.map(({ definition }) => definition.aliases[0] ?? definition.name);
  throw new BenchError("usage", what, {
    next: `use \`-a ${names.join("`, `-a ")}\`, \`-a "acp:COMMAND"\` for another ACP agent, or the controls \`-a oracle\` and \`-a nop\``,
  });
}
