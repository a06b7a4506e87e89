import type { CardJob, CardSetting } from "../model/run-card.ts";

/** Agents as their makers write them, and the packages that are their programs. */
const AGENTS: Readonly<
  Record<string, { title: string; packages: Readonly<Record<string, string>> }>
> = {
  "claude-agent-acp": {
    title: "Claude Code",
    packages: {
      "@agentclientprotocol/claude-agent-acp": "claude-agent-acp",
      "@anthropic-ai/claude-code": "Claude Code",
    },
  },
  "codex-acp": { title: "Codex", packages: { "@agentclientprotocol/codex-acp": "codex-acp" } },
  opencode: {
    title: "OpenCode",
    packages: { "opencode-linux-x64": "OpenCode", "opencode-ai": "OpenCode" },
  },
  gemini: { title: "Gemini CLI", packages: { "@google/gemini-cli": "Gemini CLI" } },
  "pi-acp": {
    title: "Pi",
    packages: { "pi-acp": "pi-acp", "@earendil-works/pi-coding-agent": "Pi" },
  },
  qwen: { title: "Qwen Code", packages: { "@qwen-code/qwen-code": "Qwen Code" } },
  copilot: { title: "GitHub Copilot CLI", packages: { "@github/copilot": "GitHub Copilot CLI" } },
};

/** `Claude Code (claude-agent-acp 0.81.2, Claude Code 2.1.280)`. */
export function nameAgent({ agent, agent_versions: versions }: CardSetting): string {
  const known = lookUp(AGENTS, agent);
  const title = known?.title ?? (agent === "" ? "An unknown agent" : agent);
  if (versions === null) return `${title} (versions unknown)`;
  const packages = known?.packages ?? {};
  const order = Object.keys(packages);
  const shown = Object.entries(versions)
    .toSorted(([a], [b]) => rankIn(order, a) - rankIn(order, b) || (a < b ? -1 : 1))
    .map(([name, version]) => `${lookUp(packages, name) ?? name} ${version}`);
  return shown.length === 0 ? title : `${title} (${shown.join(", ")})`;
}

/** Of the table's own names alone: a result may say `constructor`. */
function lookUp<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function rankIn(order: readonly string[], name: string): number {
  const rank = order.indexOf(name);
  return rank === -1 ? order.length : rank;
}

const SANDBOXES: Readonly<Record<string, string>> = {
  docker: "Docker",
  local: "local sandboxes",
  fargate: "AWS Fargate",
  e2b: "E2B",
};

export function nameSandbox(environment: string | null): string {
  return environment === null
    ? "an unknown sandbox"
    : (lookUp(SANDBOXES, environment) ?? environment);
}

/** Families of models as their makers write them, by the first word of their name. */
const FAMILIES: Readonly<Record<string, string>> = {
  mimo: "MiMo",
  claude: "Claude",
  gpt: "GPT",
  gemini: "Gemini",
  deepseek: "DeepSeek",
  qwen: "Qwen",
  glm: "GLM",
  kimi: "Kimi",
};

/** `MiMo` for `xiaomi/mimo-v2.6-flash`; the whole name of a model whose family is not known. */
export function nameFamily(model: string): string {
  const name = model.split("/").at(-1) ?? model;
  const family = name.split(/[-\d.]/u)[0] ?? "";
  return lookUp(FAMILIES, family.toLowerCase()) ?? model;
}

const BENCHMARKS: Readonly<Record<string, string>> = { skillsbench: "SkillsBench" };

/** The benchmark and its commit, where all jobs' tasks came from one checkout; null for what is unknown. */
export function nameBenchmark(jobs: readonly CardJob[]): {
  readonly name: string | null;
  readonly commit: string | null;
  /** The checkout had changes of its own. */
  readonly isDirty: boolean;
} {
  const sources = jobs.map(({ source }) => source);
  const [first] = sources;
  const isCommon = sources.every(
    (source) => source?.repo === first?.repo && source?.resolved_sha === first?.resolved_sha,
  );
  if (first == null || !isCommon) return { name: null, commit: null, isDirty: false };
  const folder =
    first.repo
      ?.split("/")
      .at(-1)
      ?.replace(/\.git$/u, "") ?? null;
  const name = folder === null ? null : (lookUp(BENCHMARKS, folder) ?? folder);
  return { name, commit: first.resolved_sha, isDirty: first.dirty };
}
