import { join } from "node:path";
import { AgentTrees } from "../stores/agents/agent-trees.ts";
import { stateDir } from "./state-dir.ts";

/** The agents' programs of this machine's user; nothing is made before one is installed. */
export function openAgentTrees(env: Readonly<Record<string, string | undefined>>): AgentTrees {
  return new AgentTrees({ dir: join(stateDir(env), "agents"), env });
}
