import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { stateDir } from "../../api/state-dir.ts";
import { TrialConfig } from "../../core/model/trial-config.ts";
import { PROVIDER_KEY, readModelJob } from "../e2e/model-run.ts";
import { runBench } from "../e2e/run-bench.ts";
import type { ModelScriptInput } from "../fakes/model-server/model-script.ts";
import { startModelServer } from "../fakes/model-server/start-model-server.ts";
import { dockerHost } from "../setup/docker-host.ts";

const EXAMPLE = join(import.meta.dirname, "../../examples/tasks/hello-file");
const MODELS = {
  claude: "anthropic/claude-haiku-4-5",
  codex: "openai/gpt-5.5",
  opencode: "xiaomi/mimo-v2.6-flash",
  gemini: "gemini/gemini-2.5-flash",
  pi: "xiaomi/mimo-v2.6-flash",
  qwen: "xiaomi/mimo-v2.6-flash",
  copilot: "xiaomi/mimo-v2.6-flash",
} as const;
type AgentName = keyof typeof MODELS;
export const AGENTS = ["claude", "codex", "opencode", "gemini", "pi", "qwen", "copilot"] as const;
/** The example's solution. */
export const WRITE = { shell: "echo 'Hello, world!' > /app/hello.txt" };

export interface Wish {
  readonly agent: AgentName;
  readonly env?: "local" | "docker";
  readonly script: Partial<ModelScriptInput>;
  readonly args?: readonly string[];
  /** Changes the task before it runs. */
  readonly prepare?: (task: string) => Promise<void>;
  readonly hostEnv?: Readonly<Record<string, string>>;
}

/** One real agent on one task, as a person runs it; the provider is the fake. */
export async function runWish(dir: string, { agent, env: kind = "local", ...wish }: Wish) {
  const server = await startModelServer({ turns: [{ text: "done" }], ...wish.script });
  onTestFinished(async () => await server.close());
  const task = join(dir, "tasks/hello-file");
  await cp(EXAMPLE, task, { recursive: true });
  await wish.prepare?.(task);
  const base = { XIAOMI: "/v1", OPENAI: "/v1", ANTHROPIC: "", GEMINI: "" };
  const provider = Object.entries(base).flatMap(([name, path]) => [
    [`${name}_API_KEY`, PROVIDER_KEY],
    [`${name}_BASE_URL`, `${server.origin}${path}`],
  ]);
  const docker = kind === "docker" ? { DOCKER_HOST: dockerHost() } : {};
  const args = ["run", "tasks", "-a", agent, "-m", MODELS[agent], "--env", kind];
  const run = await runBench([...args, "--retry-attempts", "0", ...(wish.args ?? [])], {
    cwd: dir,
    env: {
      ...Object.fromEntries(provider),
      BENCHFLOW_STATE_DIR: stateDir(process.env),
      ...docker,
      ...wish.hostEnv,
    },
  });
  if (run.code === 2) throw new Error(run.stderr);
  const job = await readModelJob(join(dir, "jobs"));
  const [trial] = job.trials;
  if (trial === undefined) throw new Error(`no trial: ${run.stdout}${run.stderr}`);
  const read = async (path: string): Promise<string> =>
    await readFile(join(trial.dir, path), "utf8");
  const asked = server.modelRequests().map(({ body }) => JSON.stringify(body));
  const config = TrialConfig.parse(JSON.parse(await read("config.json")));
  return { run, trial, job, read, asked, config };
}
