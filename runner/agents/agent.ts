import type { AgentDefinition } from "../../core/model/agent-definition.ts";
import type { Diagnostics } from "../../core/model/diagnostics.ts";
import type { Usage } from "../../core/model/record.ts";
import type { AttemptSpec } from "../../core/model/trial.ts";
import type { Loop } from "../../core/model/trial-result.ts";
import type { AttemptFolder } from "../../core/ports/attempt-folder.ts";
import type { AgentTreeStore } from "../../core/ports/agent-trees.ts";
import type { ModelNeeds, OpenModels } from "../../core/ports/model-access.ts";
import type { ReadOnlyMount, Sandbox } from "../../core/ports/sandbox.ts";
import type { AgentEnd } from "../../core/outcome/trial-evidence.ts";
import type { ConversationPlan } from "../../core/tasks/conversation.ts";
import type { Trajectory } from "../trajectory.ts";
import type { KnownAgent } from "./known-agents.ts";

/** What an agent gets to work with: one sandbox, set up, and the limits of its phase. */
export interface AgentRun {
  readonly spec: AttemptSpec;
  readonly sandbox: Sandbox;
  readonly folder: AttemptFolder;
  readonly trajectory: Trajectory;
  readonly workdir: string;
  /** What is said to the agent; absent for the task's own prompt and nothing more. */
  readonly conversation?: ConversationPlan;
  /** Where the run's skills lie in the sandbox; null or absent for a run without. */
  readonly skillsPath?: string | null;
  /** The environment of the task and its image, without anything of the host. */
  readonly env: Readonly<Record<string, string>>;
  readonly uid: number;
  readonly home: string;
  /** Open while the agent runs; null for an agent without `models`. */
  readonly models: OpenModels | null;
  readonly signal: AbortSignal;
  readonly onLine: (line: string) => void;
}

/** How an agent's work ended, and what it took. Nothing of it decides a score: the verifier does. */
export interface AgentReport {
  /** As the agent named itself; the registry name for controls. */
  readonly agentName: string;
  readonly end: AgentEnd;
  readonly toolCalls: number;
  readonly skillInvocations: number;
  /** The prompts really sent, in order. */
  readonly prompts: readonly string[];
  /** What the agent itself knows of it; replaced by the models' own count where there is one. */
  readonly usage: Usage;
  /** Why it went silent or away (spec 1.6), where the agent's own protocol tells. */
  readonly diagnostics?: Pick<Diagnostics, "idle_timeout_info" | "transport_error_info">;
  /** How the rounds with a simulated user went; null or absent without one. */
  readonly loop?: Loop | null;
}

/** One way to work on a task. */
export interface Agent {
  readonly name: string;
  /** The user of its processes. Only the oracle's are root's. */
  readonly runsAs: "root" | "agent-user";
  /** Whether the task's solution is put into the sandbox: for the oracle, and for nobody else. */
  readonly needsSolution: boolean;
  /** False for one that would work without a task's MCP servers, and not say so; see `AgentDefinition`. */
  readonly takesMcpServers?: AgentDefinition["mcpServers"];
  /** Null for an agent that calls no model. */
  readonly models: ModelNeeds | null;
  /** What its sandboxes are given of this machine: its programs, installed before the run. */
  readonly mounts: readonly ReadOnlyMount[];
  /** Package -> version of what it runs, for the settings digest; absent for controls. */
  readonly versions?: Readonly<Record<string, string>>;
  /** What it is made of, where a person's own file says so: for the settings digest. */
  readonly ownFile?: KnownAgent;
  /**
   * Brings its programs to this machine, once for a run and before any sandbox; absent for an agent
   * without programs of its own. Throws `BenchError`: `usage` when there are none for the platform,
   * `unavailable` when they cannot be had.
   */
  readonly install?: (host: AgentHost) => Promise<InstalledAgent>;
  run(run: AgentRun): Promise<AgentReport>;
}

/** What installing an agent takes. */
export interface AgentHost {
  readonly trees: AgentTreeStore;
  /** OCI platform of the sandboxes. */
  readonly platform: string;
  readonly signal: AbortSignal;
  /** Told before something is fetched, with its name. */
  readonly onInstall: (name: string) => void;
}

/** An agent whose programs lie ready, kept from being pruned until `release`. */
export interface InstalledAgent {
  readonly agent: Agent;
  release(): Promise<void>;
}

/** Where sandboxes of agents that call models have a Node 22 of their own, apart from the task's. */
export const AGENT_NODE = "/opt/bench/node/bin/node";

/** An agent that called no model: nothing was used, and that is known (not `unknown`). */
export const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheCreationTokens: 0,
  totalTokens: 0,
  costUsd: null,
  usageSource: "unavailable",
  priceSource: null,
};
