import { BenchError } from "../../core/errors.ts";
import { acpAgent } from "./acp-agent.ts";
import type { Agent } from "./agent.ts";
import { type AgentWishes, refuseForAgent, refuseForControl } from "./agent-wishes.ts";
import { commandAgent } from "./command-agent.ts";
import { KNOWN_AGENTS, type KnownAgent } from "./known-agents.ts";
import { nop } from "./nop.ts";
import { oracle } from "./oracle.ts";
import { modelScript, script } from "./script.ts";

const CONTROLS: readonly Agent[] = [oracle, nop, script, modelScript];

/** Agents that BenchFlow has and this edition does not have yet, by every name they go by. */
const UNBUILT: ReadonlySet<string> = new Set(["mimo", "openhands", "openclaw", "deepagents"]);

/** Whether a person's own agent cannot be called so. */
export function isTakenName(name: string): boolean {
  const isKnown = KNOWN_AGENTS.some(
    ({ definition }) => definition.name === name || definition.aliases.includes(name),
  );
  return (
    isKnown || name === "acp" || UNBUILT.has(name) || CONTROLS.some((each) => each.name === name)
  );
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
  const control = CONTROLS.find((agent) => agent.name === name);
  if (control !== undefined) {
    refuseForControl(name, wishes);
    return control;
  }
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
