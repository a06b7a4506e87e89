import { BenchError } from "../../core/errors.ts";
import type { Agent } from "./agent.ts";
import { nop } from "./nop.ts";
import { oracle } from "./oracle.ts";
import { modelScript, script } from "./script.ts";

const AGENTS: readonly Agent[] = [oracle, nop, script, modelScript];

/** Agents that BenchFlow has and this edition does not have yet, by every name they go by. */
const UNBUILT: ReadonlySet<string> = new Set([
  "claude-agent-acp",
  "claude",
  "codex-acp",
  "codex",
  "opencode",
  "gemini",
  "pi-acp",
  "pi",
  "qwen",
  "copilot",
  "mimo",
  "openhands",
  "openclaw",
  "deepagents",
]);

/** The agent of that name. Throws `BenchError` (`usage`) before anything is created. */
export function chooseAgent(name: string): Agent {
  const found = AGENTS.find((agent) => agent.name === name);
  if (found !== undefined) return found;
  const what = UNBUILT.has(name)
    ? `agent ${name} is not built yet in this edition`
    : `there is no agent ${JSON.stringify(name)}`;
  throw new BenchError("usage", what, {
    next: "use `-a oracle` to run the tasks' solutions, or `-a nop` for the empty control",
  });
}
