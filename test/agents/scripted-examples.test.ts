import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { stateDir } from "../../api/state-dir.ts";
import { readModelJob } from "../e2e/model-run.ts";
import { runBench, scratchDir } from "../e2e/run-bench.ts";
import { dockerHost } from "../setup/docker-host.ts";
import { AGENT_MODELS, IS_SOAK } from "./trial-scene.ts";

const EXAMPLES = join(import.meta.dirname, "../../examples");

/** On docker, outside of a soak: one task of each layout, the others differ in nothing that docker has. */
const SAMPLE = IS_SOAK ? [] : ["-i", "hello-file", "-i", "log-report"];

const scratches: { [Symbol.asyncDispose](): PromiseLike<void> }[] = [];
afterEach(async () => {
  for (const scratch of scratches.splice(0)) await scratch[Symbol.asyncDispose]();
});

/** `npm test` names two; all of them otherwise. */
const NAMED = process.env["BENCH_TEST_AGENTS"]?.split(" ");
const AGENTS = AGENT_MODELS.filter(({ agent }) => NAMED?.includes(agent) ?? true);

// No key, no network: what a person runs who tries a pipeline.
test.for(
  AGENTS.flatMap(({ agent }) => [
    { agent, env: "local", only: [], tasks: 6 },
    { agent, env: "docker", only: SAMPLE, tasks: IS_SOAK ? 6 : 2 },
  ]),
)(
  "-m scripted/solve.json has $agent solve the examples on $env, and no result passes for a model's",
  async ({ agent, env, only, tasks }) => {
    const scratch = await scratchDir();
    scratches.push(scratch);
    const script = `scripted/${join(EXAMPLES, "scripted/solve.json")}`;
    const args = [
      "run",
      join(EXAMPLES, "tasks"),
      "-a",
      agent,
      "-m",
      script,
      "--env",
      env,
      "-j",
      "2",
    ];
    const docker = env === "docker" ? { DOCKER_HOST: dockerHost() } : {};
    const run = await runBench([...args, ...only], {
      cwd: scratch.path,
      env: { BENCHFLOW_STATE_DIR: stateDir(process.env), ...docker },
    });
    expect(run.code, run.stderr + run.stdout).toBe(0);
    expect(run.stdout).toContain("so this is no model's score");
    const job = await readModelJob(join(scratch.path, "jobs"));
    expect(job.trials).toHaveLength(tasks);
    for (const { result, rows } of job.trials) {
      expect(result.outcome, result.task_name).toMatchObject({ kind: "scored", reward: 1 });
      expect(result).toMatchObject({
        model: "scripted/solve.json",
        model_calls: { cost_micro_usd: 0, cost_status: "free", price_sources: ["script"] },
      });
      expect(rows.every(({ model_served: served }) => served === "scripted-model")).toBe(true);
    }
  },
);
