import type { NetworkMode, Task } from "../model/task.ts";
import type { SandboxCaps } from "../ports/sandbox.ts";
import { problemOfTaskName } from "./rollout-name.ts";

export interface RefusalFacts {
  /** `--env` value, for the messages. */
  readonly environment: string;
  /** Null when the backend was not asked (a dry run without it): then only the task's own count. */
  readonly caps: SandboxCaps | null;
  /** False for the oracle and nop, which have nothing to gain from the verifier's files. */
  readonly agentIsHostile: boolean;
}

/**
 * Why the task cannot run there, one reason a line, naming what is lacking; empty when it can. A task
 * that needs what the backend lacks is refused in the plan, never run with less (design 6).
 */
export function taskRefusals(task: Task, facts: RefusalFacts): string[] {
  const own = task.refusals.map(({ path, reason }) => `${path}: ${reason}`);
  const name = problemOfTaskName(task.name);
  const lacks = facts.caps === null ? [] : lackingCapabilities(task, facts.caps, facts);
  return [
    ...own,
    ...(name === null ? [] : [name]),
    ...lacks.map((lack) => `--env ${facts.environment} ${lack}`),
  ];
}

/** What the backend cannot hold back, said once for the whole run: each result records it too. */
export function missingLimits(facts: RefusalFacts): string[] {
  const missing = Object.entries(facts.caps?.limits ?? {}).flatMap(([limit, held]) =>
    held ? [] : [limit],
  );
  return missing.length === 0
    ? []
    : [`--env ${facts.environment} cannot limit ${missing.join(", ")} here`];
}

function lackingCapabilities(task: Task, caps: SandboxCaps, facts: RefusalFacts): string[] {
  const lacks: string[] = [];
  if (task.compose && !caps.compose) lacks.push("runs no compose files");
  if (task.config.sandbox.gpus > 0) {
    lacks.push(`has no GPUs, and the task asks for ${task.config.sandbox.gpus}`);
  }
  if (facts.agentIsHostile && !caps.uidSeparation) {
    lacks.push("cannot keep the agent apart from the verifier here");
  }
  return [...lacks, ...lackingNetwork(task, caps)];
}

function lackingNetwork(task: Task, caps: SandboxCaps): string[] {
  const { sandbox, agent, verifier } = task.config;
  const modes: NetworkMode[] = [
    agent.networkMode ?? sandbox.networkMode,
    verifier.networkMode ?? sandbox.networkMode,
  ];
  if (modes.includes("allowlist")) return ["cannot hold a network to an allowlist of hosts"];
  const asksForPublic = [agent.networkMode, verifier.networkMode].includes("public");
  if (asksForPublic && !caps.publicNetwork) return ["has no way to the open internet here"];
  const closed = modes.filter((mode) => mode === "no-network").length;
  if (closed === 0) return [];
  if (caps.noNetwork === "none") return ["cannot cut the network"];
  return closed < modes.length && caps.noNetwork === "sandbox"
    ? ["cannot cut the network for one phase alone"]
    : [];
}
