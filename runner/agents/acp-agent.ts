import { join } from "node:path";
import { BenchError } from "../../core/errors.ts";
import type { AgentDefinition } from "../../core/model/agent-definition.ts";
import { secretValues } from "../../core/plan/agent-env.ts";
import { saidNetworks } from "../../core/plan/phase-networks.ts";
import type { HeldTree, TreeRecipe } from "../../core/ports/agent-trees.ts";
import { SandboxError } from "../../core/ports/sandbox.ts";
import type { AcpLaunch } from "../acp/run-acp-agent.ts";
import { sessionServers } from "../acp/mcp-servers.ts";
import {
  type Agent,
  AGENT_NODE,
  type AgentHost,
  type AgentReport,
  type AgentRun,
  type InstalledAgent,
} from "./agent.ts";
import { fillFields, fillText, fillingOf, type Filling, overlay } from "./fill-definition.ts";
import { fillFiles, packHome } from "./home-files.ts";
import { linkSkills } from "./link-skills.ts";
import { type KnownAgent, nodeRecipe, treeRecipe } from "./known-agents.ts";

/** Where an agent's own programs lie in its sandboxes. */
const TREE_PATH = "/opt/bench/agent";
const NODE_PATH = "/opt/bench/node";

export interface AcpAgentOptions {
  readonly effort: string | null;
  /** Variables of the person's own, beside the definition's. */
  readonly env: Readonly<Record<string, string>>;
}

/** An agent of a definition. Its programs are not there before `install` has been called. */
export function acpAgent(known: KnownAgent, options: AcpAgentOptions): Agent {
  const { definition } = known;
  const [protocol, ...others] = definition.protocols;
  const agent: Agent = {
    name: definition.name,
    runsAs: "agent-user",
    needsSolution: false,
    models: {
      protocols: [protocol, ...others],
      aliases: definition.modelAliases,
      login: definition.login,
    },
    versions: definition.packages,
    takesMcpServers: definition.mcpServers,
    mounts: [],
    run: async (run) => await runDefinition(definition, run, options),
  };
  return { ...agent, install: async (host) => await installAgent(agent, known, host) };
}

async function installAgent(
  agent: Agent,
  known: KnownAgent,
  host: AgentHost,
): Promise<InstalledAgent> {
  const { platform, trees, signal } = host;
  const node = nodeRecipe(platform);
  const isThere = known.definition.platforms.some((each) => each === platform);
  if (node === null || !isThere)
    throw new BenchError("usage", `agent ${agent.name} has no programs for ${platform}`, {
      next: `use sandboxes of ${known.definition.platforms.join(" or ")}`,
    });
  const held: HeldTree[] = [];
  const release = async (): Promise<void> => {
    for (const tree of held.splice(0)) await tree.release();
  };
  try {
    const open = async (recipe: TreeRecipe): Promise<string> => {
      const onInstall = (): void => host.onInstall(recipe.name);
      const tree = await trees.open(recipe, { signal, onInstall });
      held.push(tree);
      return tree.dir;
    };
    const mounts = [{ hostDir: join(await open(node.recipe), node.dir), path: NODE_PATH }];
    if (Object.keys(known.definition.packages).length > 0)
      mounts.push({ hostDir: await open(treeRecipe(known, platform)), path: TREE_PATH });
    return { agent: { ...agent, mounts }, release };
  } catch (thrown) {
    await release();
    throw thrown;
  }
}

async function runDefinition(
  definition: AgentDefinition,
  run: AgentRun,
  options: AcpAgentOptions,
): Promise<AgentReport> {
  const { effort } = options;
  const { models, home, workdir, sandbox, uid } = run;
  if (models === null) throw new Error(`agent ${definition.name} was given no models`);
  const filling = fillingOf({ models, effort, home, workdir, tree: TREE_PATH, node: AGENT_NODE });
  await checkPrograms(run);
  const files = fillFiles(definition.files, filling, effort !== null);
  if (files.length > 0) await sandbox.put(packHome(files, uid), home);
  await linkSkills(run, definition.skills?.dirs ?? []);
  // A control's run loads no protocol that it never speaks.
  const { runAcpAgent } = await import("../acp/run-acp-agent.ts");
  return await runAcpAgent(launchOf(definition, run, filling, options), run, models);
}

/** The private Node needs glibc: an image without it is told so, and is no failure of the agent's. */
async function checkPrograms({ sandbox, uid, env, signal }: AgentRun): Promise<void> {
  const seen = await sandbox.exec({
    argv: [AGENT_NODE, "--version"],
    uid,
    cwd: "/",
    env,
    timeoutMs: 60_000,
    signal,
  });
  if (seen.exitCode === 0) return;
  const said = new TextDecoder().decode(seen.stderr).trim().slice(0, 300);
  throw new SandboxError(
    "unsupported",
    `agents need an image with glibc 2.28 or newer: ${said || `exit code ${String(seen.exitCode)}`}`,
  );
}

function launchOf(
  definition: AgentDefinition,
  run: AgentRun,
  filling: Filling,
  { effort, env }: AcpAgentOptions,
): AcpLaunch {
  const fill = (text: string): string => fillText(text, filling);
  const [program, ...words] = definition.argv;
  const { effort: way } = definition;
  const effortEnv = effort !== null && typeof way === "object" && way !== null && "env" in way;
  const own = Object.entries({ ...definition.env, ...(effortEnv ? way.env : {}) });
  return {
    name: definition.name,
    command: {
      argv: [fill(program), ...words.map((word) => fill(word))],
      env: {
        LANG: "C.UTF-8",
        ...run.env,
        ...env,
        HOME: run.home,
        ...Object.fromEntries(own.map(([name, value]) => [name, fill(value)])),
      },
    },
    session: {
      ...serversAndMeta(definition, run, filling),
      authenticate: definition.authenticate,
      calls: definition.calls.map(({ method, params }) => ({
        method,
        params: fillFields(params, filling),
      })),
      model: String(filling.model),
      effort,
      effortOption: typeof way === "object" && way !== null && "option" in way ? way.option : null,
      confirm: definition.confirm,
    },
    secrets: secretValues(env),
    ignoresEnd: definition.ignoresEnd,
  };
}

function serversAndMeta(definition: AgentDefinition, run: AgentRun, filling: Filling) {
  const { config } = run.spec.task;
  const isOffline = saidNetworks(config).agent === "no-network";
  const { sessionMeta, sessionMetaOffline, skills } = definition;
  const own = (isOffline ? sessionMetaOffline : null) ?? sessionMeta;
  const hasSkills = skills !== null && (run.skillsPath ?? null) !== null;
  const meta = fillFields(hasSkills ? overlay(own, skills.sessionMeta) : own, filling);
  const { servers: mcpServers, toolFilters } = sessionServers(config.sandbox.mcpServers);
  if (toolFilters === null) return { mcpServers, meta };
  return { mcpServers, meta: { ...meta, benchflow: { mcp_tool_filters: toolFilters } } };
}
