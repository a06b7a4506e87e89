import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  aProvider,
  providerEnv,
  readModelJob,
  runModelBench,
  writeModelTasks,
} from "./model-run.ts";
import { scratchDir } from "./run-bench.ts";

describe("a provider that fails", () => {
  test.each([
    { what: "an outage", status: 503, category: "api_error", attempts: 2 },
    { what: "a refused country", status: 403, category: "provider_auth", attempts: 1 },
    { what: "an empty account", status: 402, category: "api_error", attempts: 1 },
    { what: "a rate limit", status: 429, category: "provider_rate_limit", attempts: 1 },
    { what: "an unknown model", status: 404, category: "api_error", attempts: 1 },
  ])("with $what is never scored, whatever the workspace holds", async (fault) => {
    await using scratch = await scratchDir();
    await writeModelTasks(scratch.path, 1, 1);
    const { status } = fault;
    const headers = { "retry-after": "0" };
    const server = await aProvider([{ kind: "status", on: "any", status, headers }]);
    const options = { cwd: scratch.path, env: providerEnv(server) };
    const run = await runModelBench({ ...options, args: ["--retry-attempts", "1"] });
    expect(run.code, run.stderr).toBe(1);
    const { trials, summary } = await readModelJob(join(scratch.path, "jobs"));
    expect(trials).toHaveLength(fault.attempts);
    for (const { result } of trials) {
      expect(result.outcome).toMatchObject({ kind: "unscored", category: fault.category });
      expect(result.rewards).toBeNull();
      // What the verifier said is kept, and does not count.
      expect(result.withheld_rewards).toEqual({ reward: 1 });
      expect(result.api_error_info).toMatchObject({ dominant_status: status });
      expect(result.agent_result.cost_usd).toBeNull();
    }
    expect(summary.budget.spent.cost_usd).toBe(0);
  });

  test("that refuses the key stops the run with one error, and a good key goes on with it", async () => {
    await using scratch = await scratchDir();
    await writeModelTasks(scratch.path, 6, 5);
    const server = await aProvider([{ kind: "status", on: "any", status: 401, times: 1 }]);
    const options = { cwd: scratch.path, env: providerEnv(server), args: ["-j", "1"] };
    const run = await runModelBench(options);
    const host = new URL(server.origin).host;
    expect(run.code).toBe(2);
    expect(run.stderr.trimEnd().split("\n").slice(-2)).toEqual([
      `${host} refused the key in XIAOMI_API_KEY (HTTP 401) before any request succeeded: the run is stopped`,
      `  next: export XIAOMI_API_KEY with a key that ${host} accepts, then run the same command again`,
    ]);
    // One request, although the agent would have made five and so would five other trials.
    expect(server.modelRequests()).toHaveLength(1);
    expect(run.stdout).toContain("1 errored: provider refused the login");
    expect(run.stdout).toContain("5 errored: not tried after repeated failures");
    const again = await runModelBench(options);
    expect(again.code, again.stderr).toBe(0);
    const { summary } = await readModelJob(join(scratch.path, "jobs"));
    expect(summary["passed"]).toBe(6);
  });

  test("and comes back costs the trial nothing: a later success redeems it", async () => {
    await using scratch = await scratchDir();
    await writeModelTasks(scratch.path, 1, 3);
    const headers = { "retry-after": "0" };
    const server = await aProvider([
      { kind: "status", on: "any", status: 503, headers, after: 0, times: 3 },
    ]);
    const run = await runModelBench({ cwd: scratch.path, env: providerEnv(server) });
    expect(run.code, run.stderr).toBe(0);
    const { trials } = await readModelJob(join(scratch.path, "jobs"));
    expect(trials[0]?.rows.map((row) => row.upstream_status)).toEqual([503, 200, 200]);
  });
});
