import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BenchError } from "../../core/errors.ts";
import { type RunSettingsInput, RunSettings } from "../../core/model/settings.ts";
import { TrajectoryEvent } from "../../core/model/trajectory.ts";
import { openRunWorld } from "../../api/open-run-world.ts";
import { runBenchmark } from "../../api/run-benchmark.ts";
import type { RunWorld } from "../../api/run-deps.ts";
import { stateDir } from "../../api/state-dir.ts";
import { PROVIDER_KEY } from "../e2e/model-run.ts";

/** The agents of this edition, each with a model whose provider speaks its own dialect. */
export const AGENT_MODELS = [
  { agent: "claude", model: "xiaomi/mimo-v2.6-flash" },
  { agent: "codex", model: "openai/gpt-5.5" },
  { agent: "opencode", model: "xiaomi/mimo-v2.6-flash" },
  { agent: "gemini", model: "gemini/gemini-2.5-pro" },
  { agent: "pi", model: "xiaomi/mimo-v2.6-flash" },
  { agent: "qwen", model: "xiaomi/mimo-v2.6-flash" },
  { agent: "copilot", model: "xiaomi/mimo-v2.6-flash" },
] as const;
export type AgentName = (typeof AGENT_MODELS)[number]["agent"];

export interface AgentModel {
  readonly agent: AgentName;
  readonly model: string;
}

export const IS_SOAK = process.env["BENCH_TEST_SOAK"] !== undefined;
const LIGHT: ReadonlySet<AgentName> = new Set(["codex", "pi"]);

/** What CI can afford of a suite that takes long: the lightest two, of two dialects. */
export const CI_AGENTS: readonly AgentModel[] = AGENT_MODELS.filter(({ agent }) =>
  LIGHT.has(agent),
);

/** The environment of a person all of whose providers are the fake. */
export function providersAt(origin: string): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    XIAOMI_API_KEY: PROVIDER_KEY,
    XIAOMI_BASE_URL: `${origin}/v1`,
    OPENAI_API_KEY: PROVIDER_KEY,
    OPENAI_BASE_URL: `${origin}/v1`,
    GEMINI_API_KEY: PROVIDER_KEY,
    GEMINI_BASE_URL: `${origin}/v1beta`,
    BENCHFLOW_STATE_DIR: stateDir(process.env),
  };
}

export interface SceneTask {
  readonly prompt?: string;
  readonly agentSec?: number;
  /** Shell of the verifier, which has to write a reward. */
  readonly test?: string;
}

/** What the scripted model has its agent run first; it is all that the default verifier asks for. */
export const SOLVE = "echo 1 > /app/answer";
const TEST = "cp /app/answer /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt";

/** One task without a network, in `tasks/task` of the folder. */
export async function writeSceneTask(dir: string, task: SceneTask = {}): Promise<void> {
  const { prompt = "Write 1 into the file /app/answer.\n", agentSec = 120, test = TEST } = task;
  const root = join(dir, "tasks/task");
  for (const folder of ["environment", "tests"])
    await mkdir(join(root, folder), { recursive: true });
  const toml = `version = "1.0"
[agent]
timeout_sec = ${String(agentSec)}
[verifier]
timeout_sec = 60
[environment]
cpus = 2
memory_mb = 2048
network_mode = "no-network"
`;
  await writeFile(join(root, "task.toml"), toml);
  await writeFile(join(root, "instruction.md"), prompt);
  await writeFile(
    join(root, "environment/Dockerfile"),
    "FROM debian:bookworm-slim\nWORKDIR /app\n",
  );
  await writeFile(join(root, "tests/test.sh"), `#!/bin/bash\n${test}\n`);
}

export interface RunWish extends AgentModel {
  readonly dir: string;
  readonly origin: string;
  readonly over?: Partial<RunSettingsInput>;
  readonly limits?: RunWorld["modelLimits"];
  readonly signal?: AbortSignal;
}

/** A run of the folder's tasks on local sandboxes, in this process, as `bench run` makes it. */
export async function runTasks(wish: RunWish): Promise<"ended" | "interrupted"> {
  const { dir, agent, model, over, limits, signal = new AbortController().signal } = wish;
  const settings = RunSettings.parse({
    tasksDir: join(dir, "tasks"),
    jobsDir: join(dir, "jobs"),
    agent,
    model,
    environment: "local",
    concurrency: 1,
    retryAttempts: 0,
    ...over,
  });
  const env = providersAt(wish.origin);
  const world = openRunWorld(settings, { env, onEvent: () => undefined, signal });
  try {
    await runBenchmark(settings, {
      ...world,
      ...(limits === undefined ? {} : { modelLimits: limits }),
    });
    return "ended";
  } catch (thrown) {
    if (thrown instanceof BenchError && thrown.kind === "interrupted") return "interrupted";
    throw thrown;
  }
}

/** A trial's trajectory, each line held to its schema. */
export async function readEvents(trialDir: string): Promise<TrajectoryEvent[]> {
  const text = await readFile(join(trialDir, "trajectory/acp_trajectory.jsonl"), "utf8");
  const lines = text.split("\n").filter(Boolean);
  return lines.map((line) => TrajectoryEvent.parse(JSON.parse(line)));
}
