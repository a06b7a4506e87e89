import { basename, dirname, extname, join, resolve } from "node:path";
import { BenchError } from "../core/errors.ts";
import { AgentDefinition } from "../core/model/agent-definition.ts";
import { AgentLock } from "../core/model/agent-lock.ts";
import { RunSettings } from "../core/model/settings.ts";
import { checkOwnAgent } from "../runner/agents/check-own-agent.ts";
import type { KnownAgent } from "../runner/agents/known-agents.ts";
import { isTakenName } from "../runner/agents/choose-agent.ts";
import { readOwnFile, shapeIn } from "./read-own-file.ts";

const NEXT = shapeIn("docs/agents.md");

/** Where an agent's file has its lock: `my-agent.lock.json` beside `my-agent.yaml`. */
export function lockPathOf(path: string): string {
  return join(dirname(path), `${basename(path, extname(path))}.lock.json`);
}

/** Reads an agent's file alone. Throws `BenchError` (`config`) for what is no agent of a person's own. */
export async function readOwnDefinition(path: string): Promise<AgentDefinition> {
  const file = basename(path);
  const asked = `--agent-file ${file}`;
  const definition = await readOwnFile(AgentDefinition, { path, asked, next: NEXT });
  checkOwnAgent(definition, file);
  for (const name of [definition.name, ...definition.aliases])
    if (isTakenName(name))
      throw new BenchError("config", `--agent-file ${file}: ${name} is an agent of this edition`, {
        next: "give it a name of its own",
      });
  return definition;
}

/** Reads an agent and the lock of its packages, which must be of exactly these. Throws `BenchError` (`config`). */
export async function readOwnAgent(path: string): Promise<KnownAgent> {
  const definition = await readOwnDefinition(path);
  const names = Object.keys(definition.packages);
  if (names.length === 0) return { definition, lock: null };
  const lockPath = lockPathOf(path);
  const next = `\`bench agents lock ${path}\` writes it`;
  const asked = `--agent-file ${basename(lockPath)}`;
  const lock = await readOwnFile(AgentLock, { path: lockPath, asked, next });
  const { locks, packages, lockfileVersion } = lock;
  const isOfThese =
    names.length === Object.keys(locks).length &&
    names.every(
      (name) =>
        locks[name] === definition.packages[name] &&
        packages[`node_modules/${name}`]?.version === definition.packages[name],
    );
  if (!isOfThese)
    throw new BenchError(
      "config",
      `--agent-file ${basename(path)}: ${basename(lockPath)} is of other packages or versions`,
      { next },
    );
  return { definition, lock: { lockfileVersion, packages } };
}

const DEFAULT_AGENT = RunSettings.parse({ tasksDir: "." }).agent;

/**
 * Settings whose agent is the one of `--agent-file`, a path below `cwd`. Throws `BenchError`: `usage` where
 * `-a` names another one, `config` for a file that is none.
 */
export async function nameOwnAgent(settings: RunSettings, cwd: string): Promise<RunSettings> {
  if (settings.agentFile === null) return settings;
  const agentFile = resolve(cwd, settings.agentFile);
  const { name, aliases } = await readOwnDefinition(agentFile);
  const { agent } = settings;
  if (agent !== DEFAULT_AGENT && agent !== name && !aliases.includes(agent))
    throw new BenchError("usage", `-a ${agent} is not the agent of --agent-file, ${name}`, {
      next: "leave -a out, or --agent-file",
    });
  return { ...settings, agent: name, agentFile };
}
