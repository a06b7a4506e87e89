import type { Agent } from "./agent.ts";
import { type AgentWishes, refuseForControl } from "./agent-wishes.ts";
import { nop } from "./nop.ts";
import { oracle } from "./oracle.ts";
import { modelScript, script } from "./script.ts";

const CONTROLS: readonly Agent[] = [oracle, nop, script, modelScript];

/**
 * The control of that name; null for any other agent. Throws `BenchError` (`usage`) for wishes that it
 * would not hear.
 */
export function chooseControl(name: string, wishes: AgentWishes = {}): Agent | null {
  const control = CONTROLS.find((agent) => agent.name === name) ?? null;
  if (control !== null) refuseForControl(name, wishes);
  return control;
}
