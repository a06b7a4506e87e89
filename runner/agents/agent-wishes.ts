import { BenchError } from "../../core/errors.ts";
import type { AgentDefinition } from "../../core/model/agent-definition.ts";
import { problemOfVariable } from "../../core/plan/agent-env.ts";

/** What a person asks of an agent beyond its task. */
export interface AgentWishes {
  /** `--reasoning-effort` */
  readonly effort?: string | null;
  /** `--agent-env` */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether `--prompt` or `--extra-instruction` was given. */
  readonly hasPrompts?: boolean;
  /** Whether it is to have skills. */
  readonly hasSkills?: boolean;
}

/**
 * Refuses what a control would not hear: it would stand in its results as if it had been told. Skills
 * it has, since a task's solution may use them. Throws `BenchError` (`usage`).
 */
export function refuseForControl(
  name: string,
  { effort = null, env = {}, hasPrompts = false }: AgentWishes,
): void {
  if (effort !== null) throw noEffort(name);
  const isGiven = Object.keys(env).length > 0;
  if (!isGiven && !hasPrompts) return;
  const what = isGiven ? "is given no variables" : "is asked nothing";
  const flag = isGiven ? "--agent-env" : "--prompt and --extra-instruction";
  throw new BenchError("usage", `agent ${name} ${what}: it runs the task's own files alone`, {
    next: `leave ${flag} out`,
  });
}

/** The same for what an agent of a definition cannot be given. */
export function refuseForAgent(
  name: string,
  { definition, wishes }: { readonly definition: AgentDefinition; readonly wishes: AgentWishes },
): void {
  const { effort = null, env = {}, hasSkills = false } = wishes;
  if (effort !== null && definition.effort === null) throw noEffort(name);
  if (hasSkills && definition.skills === null)
    throw new BenchError("usage", `agent ${name} looks for skills in no folder that is known`, {
      next: "leave --skill-mode with-skill out, or choose another agent",
    });
  const own = new Set(Object.keys(definition.env));
  for (const [variable, value] of Object.entries(env)) {
    const problem = own.has(variable)
      ? `agent ${name} is set up by it`
      : problemOfVariable(variable, value);
    if (problem === null) continue;
    throw new BenchError("usage", `--agent-env ${variable}: ${problem}`, {
      next: `leave ${variable} out`,
    });
  }
}

function noEffort(name: string): BenchError {
  return new BenchError("usage", `agent ${name} has no reasoning effort to set`, {
    next: "leave --reasoning-effort out",
  });
}
