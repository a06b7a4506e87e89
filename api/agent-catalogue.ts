import { BenchError } from "../core/errors.ts";
import type { ModelProtocol } from "../core/model/exchange.ts";
import type { TreeRecipe } from "../core/ports/agent-trees.ts";
import { KNOWN_AGENTS, nodeRecipe, treeRecipe } from "../runner/agents/known-agents.ts";
import { chooseAgent } from "../runner/agents/choose-agent.ts";
import type { AgentTree } from "../stores/agents/agent-trees.ts";
import { openAgentTrees } from "./open-agent-trees.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** An agent of this edition, and what of it is on this machine. */
export interface CatalogueEntry {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly protocols: readonly ModelProtocol[];
  readonly packages: Readonly<Record<string, string>>;
  readonly platforms: readonly string[];
  /** Whether `--reasoning-effort` can be set. */
  readonly effort: boolean;
  /** Size of its tree for this machine's platform; null while it is not installed. */
  readonly installedBytes: number | null;
}

export async function agentCatalogue(env: Environment): Promise<readonly CatalogueEntry[]> {
  const trees = openAgentTrees(env);
  const platform = ownPlatform();
  return await Promise.all(
    KNOWN_AGENTS.map(async (known) => {
      const { name, aliases, protocols, packages, platforms, effort } = known.definition;
      const found = await trees.find(treeRecipe(known, platform));
      const installedBytes = found?.sizeBytes ?? null;
      const hasEffort = effort !== null;
      return { name, aliases, protocols, packages, platforms, effort: hasEffort, installedBytes };
    }),
  );
}

export interface InstallRequest {
  /** Names or aliases; none for all. */
  readonly names: readonly string[];
  /** OCI platform of the sandboxes; null for this machine's. */
  readonly platform: string | null;
  readonly signal: AbortSignal;
  readonly onInstall: (name: string) => void;
  readonly onReady: (name: string) => void;
}

/** Installs agents' programs ahead of a run. Throws `BenchError` for a name that is none. */
export async function installAgents(env: Environment, request: InstallRequest): Promise<void> {
  const { signal, onInstall, onReady } = request;
  const platform = request.platform ?? ownPlatform();
  const all = KNOWN_AGENTS.filter(({ definition }) =>
    definition.platforms.some((each) => each === platform),
  ).map(({ definition }) => definition.name);
  const agents = (request.names.length > 0 ? request.names : all).map((name) => chooseAgent(name));
  const trees = openAgentTrees(env);
  for (const agent of agents) {
    if (agent.install === undefined)
      throw new BenchError("usage", `agent ${agent.name} has no programs to install`, {
        next: "bench agents list",
      });
    const installed = await agent.install({ trees, platform, signal, onInstall });
    await installed.release();
    onReady(agent.name);
  }
}

/** Removes trees that no agent of this edition is made of, or with `all` every one; never one in use. */
export async function pruneAgents(
  env: Environment,
  { all }: { readonly all: boolean },
): Promise<readonly AgentTree[]> {
  const kept: TreeRecipe[] = [];
  for (const platform of ["linux/amd64", "linux/arm64"]) {
    kept.push(...KNOWN_AGENTS.map((known) => treeRecipe(known, platform)));
    const node = nodeRecipe(platform);
    if (node !== null) kept.push(node.recipe);
  }
  return await openAgentTrees(env).prune(all ? [] : kept);
}

/** Of sandboxes on this machine: containers are Linux wherever their daemon runs. */
function ownPlatform(): string {
  return process.arch === "arm64" ? "linux/arm64" : "linux/amd64";
}
