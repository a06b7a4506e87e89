import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startModelServer } from "../fakes/model-server/start-model-server.ts";
import { dockerHost } from "../setup/docker-host.ts";
import {
  CALL,
  CALL_MICRO_USD,
  providerEnv,
  readModelJob,
  startModelBench,
  TURN,
  writeModelTask,
  writePrices,
} from "./model-run.ts";
import { scratchDir } from "./run-bench.ts";

/** Containers of ours that a daemon still holds for a job. */
function containersOf(host: string, job: string): string {
  const filter = `label=benchflow.job=${job}`;
  return execFileSync("docker", ["ps", "-aq", "--filter", filter], {
    env: { ...process.env, DOCKER_HOST: host },
    encoding: "utf8",
  });
}

const LIMITS = 'version = "1.0"\n[agent]\ntimeout_sec = 60\n[environment]\n';

test("agents in containers are metered, with and without a network, and leave nothing", async () => {
  await using scratch = await scratchDir();
  const { path } = scratch;
  const tasks = join(path, "tasks");
  await writeModelTask(join(tasks, "closed"), {
    calls: 2,
    toml: `${LIMITS}allow_internet = false\n`,
  });
  await writeModelTask(join(tasks, "public"), {
    calls: 2,
    toml: `${LIMITS}allow_internet = true\n`,
  });
  await writePrices(join(path, "prices.json"));
  const host = dockerHost();
  const server = await startModelServer({ turns: [TURN] });
  try {
    const env = { ...providerEnv(server), DOCKER_HOST: host };
    const args = ["--env", "docker", "--max-cost-usd", "20", "--save-outputs"];
    const run = await startModelBench({ cwd: path, env, args }).ended;
    expect(run.code, run.stderr).toBe(0);
    expect(server.modelRequests()).toHaveLength(4);
    const { dir, trials, summary } = await readModelJob(join(path, "jobs"));
    for (const { result } of trials) {
      expect(result.outcome).toMatchObject({ kind: "scored", reward: 1 });
      expect(result.agent_result).toMatchObject({
        n_input_tokens: 2 * CALL.inputTokens,
        cost_usd: (2 * CALL_MICRO_USD) / 1e6,
      });
      expect(result.isolation?.network_agent).toBe(result.task_name);
    }
    expect(summary.budget.spent.sandbox_seconds).toBeGreaterThan(0);
    expect(containersOf(host, dir.split("/").at(-1) ?? "")).toBe("");
  } finally {
    await server.close();
  }
});
