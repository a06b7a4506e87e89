import type { NetworkMode, Task } from "../model/task.ts";
import type { SandboxCaps } from "../ports/sandbox.ts";
import { givenNetworks, saidNetworks } from "./phase-networks.ts";
import { problemOfTaskName } from "./rollout-name.ts";

export interface RefusalFacts {
  /** `--env` value, for the messages. */
  readonly environment: string;
  /** Null when the backend was not asked (a dry run without it): then only the task's own count. */
  readonly caps: SandboxCaps | null;
  /** False for the oracle and nop, which have nothing to gain from the verifier's files. */
  readonly agentIsHostile: boolean;
  /** True for the oracle: without a solution it would measure the untouched task. */
  readonly runsSolution: boolean;
  /** The user's word that tasks which ask for the open internet may run where there is none. */
  readonly withoutInternet: boolean;
}

/**
 * Why the task cannot run there, one reason a line, naming what is lacking; empty when it can. A task
 * that needs what the backend lacks is refused in the plan, never run with less (design 6).
 */
export function taskRefusals(task: Task, facts: RefusalFacts): string[] {
  const own = task.refusals.map(({ path, reason }) => `${path}: ${reason}`);
  const name = problemOfTaskName(task.name);
  const lacksSolution = facts.runsSolution && task.oracleDir === null;
  const lacks = facts.caps === null ? [] : lackingCapabilities(task, facts.caps, facts);
  return [
    ...own,
    ...(name === null ? [] : [name]),
    ...(lacksSolution
      ? ["there is no solution/solve.sh or oracle/solve.sh, the oracle runs it"]
      : []),
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

/**
 * Tasks of the run that get no network although nothing in them shuts it, said once for the whole
 * run: those that say nothing, for which the contract's default is the open internet, and those that
 * ask for it and run without it on the user's word.
 */
export function closedNetworkWarnings(tasks: readonly Task[], facts: RefusalFacts): string[] {
  if (facts.caps === null || facts.caps.publicNetwork) return [];
  const asking = tasks.filter(asksForInternet);
  const silent = tasks.filter((task) => !asksForInternet(task) && modesOf(task).includes(null));
  const names = asking.map(({ name }) => name).join(", ");
  const asked = asking.length === 1 ? "it asks for" : "they ask for";
  return [
    ...(silent.length === 0 ? [] : [`${countTasks(silent)} without the open internet here`]),
    ...(asking.length === 0
      ? []
      : [`${countTasks(asking)} without the open internet that ${asked}: ${names}`]),
  ];
}

function countTasks({ length }: readonly Task[]): string {
  return length === 1 ? "1 task runs" : `${length} tasks run`;
}

function modesOf({ config }: Task): (NetworkMode | null)[] {
  const { setup, agent, verifier } = saidNetworks(config);
  return [setup, agent, verifier];
}

function asksForInternet(task: Task): boolean {
  return modesOf(task).includes("public");
}

function lackingCapabilities(task: Task, caps: SandboxCaps, facts: RefusalFacts): string[] {
  const lacks: string[] = [];
  if (task.compose && !caps.compose) lacks.push("runs no compose files");
  if (task.config.sandbox.gpus > 0) {
    lacks.push(`has no GPUs, and the task asks for ${task.config.sandbox.gpus}`);
  }
  const { cpus } = task.config.sandbox;
  if (caps.maxCpus !== null && cpus > caps.maxCpus) {
    lacks.push(`has ${caps.maxCpus} processors, and the task asks for ${cpus}`);
  }
  if (facts.agentIsHostile && !caps.uidSeparation) {
    lacks.push("cannot keep the agent apart from the verifier here");
  }
  return [...lacks, ...lackingNetwork(task, caps, facts)];
}

function lackingNetwork(task: Task, caps: SandboxCaps, facts: RefusalFacts): string[] {
  const said = modesOf(task);
  if (said.includes("allowlist")) return ["cannot hold a network to an allowlist of hosts"];
  if (asksForInternet(task) && !caps.publicNetwork && !facts.withoutInternet) {
    return [
      "has no way to the open internet here, and the task asks for it (--without-internet runs it without)",
    ];
  }
  const { setup, agent, verifier } = givenNetworks(task.config, caps);
  if (said.includes("no-network") && caps.noNetwork === "none") return ["cannot cut the network"];
  return new Set([setup, agent, verifier]).size > 1 && caps.noNetwork === "sandbox"
    ? ["cannot cut the network for one phase alone"]
    : [];
}
