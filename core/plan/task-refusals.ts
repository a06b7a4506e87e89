import type { RunSettings } from "../model/settings.ts";
import type { NetworkMode, Refusal, Task } from "../model/task.ts";
import type { SandboxCaps } from "../ports/sandbox.ts";
import { givenNetworks, saidNetworks } from "./phase-networks.ts";
import { problemOfTaskName } from "./rollout-name.ts";
import { problemOfSkills } from "./task-skills.ts";

export interface RefusalFacts {
  /** `--env` value, for the messages. */
  readonly environment: string;
  /** Null when no backend was asked: then what the task itself says counts, and what none here can. */
  readonly caps: SandboxCaps | null;
  /**
   * False for the controls, oracle and nop: they gain nothing from the verifier's files, speak with
   * nobody, and are there to show what a task lacks.
   */
  readonly agentIsHostile: boolean;
  /** True for the oracle: without a solution it would measure the untouched task. */
  readonly runsSolution: boolean;
  /** The user's word that tasks which ask for the open internet may run where there is none. */
  readonly withoutInternet: boolean;
  /** Which skills its agent gets; absent for none. */
  readonly skills?: Pick<RunSettings, "skillMode" | "skillsDir">;
}

/** What of a task decides whether it can run. */
export type RefusableTask = Pick<
  Task,
  "name" | "config" | "refusals" | "oracleDir" | "compose" | "skills"
>;

/** Any agent but the controls, on a backend that nobody asked: for listings and static checks. */
export const ANY_AGENT: RefusalFacts = {
  environment: "",
  caps: null,
  agentIsHostile: true,
  runsSolution: false,
  withoutInternet: false,
};

/**
 * Why the task cannot run there, one reason a line, naming what is lacking; empty when it can. A task
 * that needs what the backend lacks is refused in the plan, never run with less (design 6).
 */
export function taskRefusals(task: RefusableTask, facts: RefusalFacts): string[] {
  const own = task.refusals.filter((refusal) => facts.agentIsHostile || !sparesControls(refusal));
  const name = problemOfTaskName(task.name);
  const lacksSolution = facts.runsSolution && task.oracleDir === null;
  const skills = facts.skills === undefined ? null : problemOfSkills(task, facts.skills);
  const lacks = facts.caps === null ? [] : lackingCapabilities(task, facts.caps, facts);
  return [
    ...own.map(({ path, reason }) => `${path}: ${reason}`),
    ...(facts.caps === null && task.compose
      ? ["compose: no sandbox of this edition runs compose files"]
      : []),
    ...(name === null ? [] : [name]),
    ...(skills === null ? [] : [skills]),
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
 * Tasks of a run of the controls that no other agent of this edition could run, with what is left out
 * for them: a control's score says nothing about that part.
 */
export function controlsOnlyWarnings(tasks: readonly Task[], facts: RefusalFacts): string[] {
  if (facts.agentIsHostile) return [];
  const spared = tasks.flatMap(({ name, refusals }) => {
    const paths = refusals.filter(sparesControls).map(({ path }) => path);
    return paths.length === 0 ? [] : [`${name} (${paths.join(", ")})`];
  });
  if (spared.length === 0) return [];
  const them = spared.length === 1 ? "it" : "them";
  return [
    `${countTasks(spared)} for the controls alone, other agents are refused ${them}: ${spared.join(", ")}`,
  ];
}

/** Tasks that want more processors than the sandboxes have to share: they run, and slower than meant. */
export function processorWarnings(
  tasks: readonly Task[],
  { caps, environment }: RefusalFacts,
): string[] {
  if (caps === null || caps.processors === null || caps.maxCpus !== null) return [];
  const { processors } = caps;
  const wide = tasks.filter(({ config }) => config.sandbox.cpus > processors);
  if (wide.length === 0) return [];
  const asking = wide.map(({ name, config }) => `${name} (${config.sandbox.cpus})`).join(", ");
  const who = wide.length === 1 ? "1 task asks" : `${wide.length} tasks ask`;
  return [
    `${who} for more processors than the ${processors} that --env ${environment} has: ${asking}`,
  ];
}

/**
 * Tasks of the run that get no network although nothing in them shuts it, said once for the whole
 * run: those that say nothing, for which the contract's default is the open internet, and those that
 * ask for it and run without it, on the user's word or for a control.
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

function sparesControls({ agentsOnly }: Refusal): boolean {
  return agentsOnly === true;
}

function countTasks({ length }: readonly unknown[]): string {
  return length === 1 ? "1 task runs" : `${length} tasks run`;
}

function modesOf({ config }: RefusableTask): (NetworkMode | null)[] {
  const { setup, agent, verifier } = saidNetworks(config);
  return [setup, agent, verifier];
}

function asksForInternet(task: RefusableTask): boolean {
  return modesOf(task).includes("public");
}

/** MCP servers, by name, that are not programs of the image and do not listen in the sandbox itself. */
function farServers({ config }: RefusableTask): string[] {
  return config.sandbox.mcpServers.flatMap(({ name, transport, url }) => {
    if (transport === "stdio") return [];
    const [, host = ""] = /^[a-z]+:\/\/(?:[^/@]*@)?(\[[^\]]*\]|[^/:?#]*)/iu.exec(url ?? "") ?? [];
    return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/iu.test(host) ? [] : [name];
  });
}

function lackingCapabilities(
  task: RefusableTask,
  caps: SandboxCaps,
  facts: RefusalFacts,
): string[] {
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

function lackingNetwork(task: RefusableTask, caps: SandboxCaps, facts: RefusalFacts): string[] {
  const said = modesOf(task);
  if (said.includes("allowlist")) return ["cannot hold a network to an allowlist of hosts"];
  // A control that fails for want of a network shows just that, and its result says `closed`; an
  // agent's zero would read as the agent's.
  const mayRunClosed = facts.withoutInternet || !facts.agentIsHostile;
  if (asksForInternet(task) && !caps.publicNetwork && !mayRunClosed) {
    return [
      "has no way to the open internet here, and the task asks for it (--without-internet runs it without)",
    ];
  }
  const { setup, agent, verifier } = givenNetworks(task.config, caps);
  const [far] = agent === "closed" && !mayRunClosed ? farServers(task) : [];
  if (far !== undefined)
    return [
      `gives its agent no network, and MCP server ${far} lies outside of the sandbox (--without-internet runs it without)`,
    ];
  if (said.includes("no-network") && caps.noNetwork === "none") return ["cannot cut the network"];
  return new Set([setup, agent, verifier]).size > 1 && caps.noNetwork === "sandbox"
    ? ["cannot cut the network for one phase alone"]
    : [];
}
