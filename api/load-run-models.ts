import type { RunSettings } from "../core/model/settings.ts";
import type { Agent } from "../runner/agents/agent.ts";
import type { ModelDeps, RunModels } from "./run-models.ts";

/**
 * `resolveRunModels`, with its code loaded on first use: a control's run has neither a model nor a price
 * file, and does not wait for providers, logins and price lists.
 */
export async function loadRunModels(
  settings: RunSettings,
  agent: Pick<Agent, "name" | "models">,
  deps: ModelDeps,
): Promise<RunModels | null> {
  if (agent.models === null && settings.prices === null) return null;
  const { resolveRunModels } = await import("./run-models.ts");
  return await resolveRunModels(settings, agent, deps);
}
