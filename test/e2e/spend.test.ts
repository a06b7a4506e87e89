import { setTimeout as sleep } from "node:timers/promises";
import { readFile, truncate } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  CALL,
  CALL_MICRO_USD,
  RATES,
  providerEnv,
  readModelJob,
  runModelBench,
  startModelBench,
  aProvider,
  usd,
  writeModelTasks,
} from "./model-run.ts";
import { runBench, scratchDir } from "./run-bench.ts";

describe("an agent that asks a model", () => {
  test("is metered to the token, in every file that tells of it", async () => {
    await using scratch = await scratchDir();
    await writeModelTasks(scratch.path, 2, 3);
    const server = await aProvider();
    const run = await runModelBench({ cwd: scratch.path, env: providerEnv(server) });
    expect(run.stderr).toContain(`XIAOMI_API_KEY goes to ${new URL(server.origin).host}`);
    expect(run.code, run.stderr).toBe(0);
    expect(server.modelRequests()).toHaveLength(6);
    const job = await readModelJob(join(scratch.path, "jobs"));
    for (const { result, rows } of job.trials) {
      expect(result.outcome).toMatchObject({ kind: "scored", reward: 1 });
      expect(result.agent_result).toMatchObject({
        n_input_tokens: 3 * CALL.inputTokens,
        n_output_tokens: 3 * CALL.outputTokens,
        n_cache_read_tokens: 3 * CALL.cacheRead,
        total_tokens: 3 * (CALL.inputTokens + CALL.outputTokens),
        cost_usd: usd(3 * CALL_MICRO_USD),
        usage_source: "provider_response",
        price_source: "file:prices.json",
        cost_status: "priced",
      });
      expect(result.model_calls).toMatchObject({ requests: 3, main_requests: 3, failed: 0 });
      expect(rows.map(({ cost_micro_usd: cost }) => cost)).toEqual(Array(3).fill(CALL_MICRO_USD));
    }
    expect(job.summary.total_cost_usd).toBeCloseTo(usd(6 * CALL_MICRO_USD), 9);
    expect(job.summary.budget.spent).toMatchObject({
      cost_usd: usd(6 * CALL_MICRO_USD),
      tokens: 6 * (CALL.inputTokens + CALL.outputTokens),
      rollouts: 2,
      usd_unknown_trials: 0,
    });
    expect(job.summary.budget.held).toMatchObject({ cost_usd: 0, tokens: 0 });
    expect(run.stdout).toMatch(/^Cost: {6}\$\d+\.\d\d, 174,240 tokens$/mu);
    expect(run.stdout).not.toContain("Budget:");
  });

  test("whose result was torn cost what nobody knows any more, and the pot counts on", async () => {
    await using scratch = await scratchDir();
    await writeModelTasks(scratch.path, 1, 2);
    const server = await aProvider();
    const options = { cwd: scratch.path, env: providerEnv(server) };
    expect((await runModelBench(options)).code).toBe(0);
    const [torn] = (await readModelJob(join(scratch.path, "jobs"))).trials;
    await truncate(join(torn?.dir ?? "", "result.json"), 200);
    const again = await runModelBench(options);
    expect(again.code, again.stderr).toBe(0);
    expect(again.stdout).toMatch(
      /^Cost: {6}>=\$\d\.\d\d, >=58,080 tokens \(1 attempt left none that can be trusted\)$/mu,
    );
    const summary: unknown = JSON.parse(
      await readFile(join(dirname(torn?.dir ?? ""), "summary.json"), "utf8"),
    );
    expect(summary).toMatchObject({
      spend: { attempts: 2, uncounted_attempts: 1, unpriced_attempts: 1 },
      // What it really cost was settled when it ran.
      budget: { spent: { cost_usd: usd(4 * CALL_MICRO_USD), usd_unknown_trials: 0 } },
    });
  });

  test("never spends past the cap at -j 4; what is left runs when the cap is raised (C-32)", async () => {
    await using scratch = await scratchDir();
    await writeModelTasks(scratch.path, 12, 3);
    const server = await aProvider();
    const trial = 3 * CALL_MICRO_USD;
    // Enough for some of the twelve; one call reserves far more than it costs.
    const cap = usd(15 * trial);
    const options = { cwd: scratch.path, env: providerEnv(server) };
    const small = usd(5 * trial);
    const first = await runModelBench({
      ...options,
      args: ["-j", "4", "--max-cost-usd", String(small)],
    });
    expect(first.code, first.stderr).toBe(1);
    const spent = usd(server.modelRequests().length * CALL_MICRO_USD);
    expect(spent).toBeLessThanOrEqual(small);
    const job = await readModelJob(join(scratch.path, "jobs"));
    expect(job.summary.budget.spent.cost_usd).toBeCloseTo(spent, 9);
    expect(job.summary.budget).toMatchObject({ stopped: true, caps: { max_cost_usd: small } });
    const { cancelled, not_started: notStarted } = job.summary.budget;
    expect(cancelled.length + notStarted.length).toBeGreaterThan(0);
    expect(first.stdout).toMatch(
      /^Budget: budget reached: \$\d+\.\d\d spent of a \$\d+\.\d\d cap; \d+ running trial\(s\) cancelled, \d+ not started \(not counted as failures; resume the job to run them\)$/mu,
    );
    const faults = job.trials.flatMap(({ result: { outcome } }) =>
      outcome.kind === "unscored" ? [outcome.fault] : [],
    );
    expect(faults).toEqual(cancelled.map(() => "budget"));

    const second = await runModelBench({
      ...options,
      args: ["-j", "4", "--max-cost-usd", String(cap)],
    });
    expect(second.code, second.stderr).toBe(0);
    const whole = await readModelJob(join(scratch.path, "jobs"));
    expect(whole.summary.budget.spent.cost_usd).toBeCloseTo(
      usd(server.modelRequests().length * CALL_MICRO_USD),
      9,
    );
    expect(whole.summary.budget.spent.cost_usd).toBeLessThanOrEqual(cap);
    expect(whole.summary["passed"]).toBe(12);
    expect(second.stdout).toMatch(/^Budget: \$\d+\.\d+ spent of a \$\d+\.\d+ cap$/mu);
  });

  test("starts nothing under a cap of 0, and spends nothing (C-34)", async () => {
    await using scratch = await scratchDir();
    await writeModelTasks(scratch.path, 2, 1);
    const server = await aProvider();
    const options = { cwd: scratch.path, env: providerEnv(server) };
    const run = await runModelBench({ ...options, args: ["--max-cost-usd", "0"] });
    expect(run.code, run.stderr).toBe(1);
    expect(server.journal).toHaveLength(0);
    expect(run.stdout).toContain("0 running trial(s) cancelled, 2 not started");
    expect(run.stdout).toMatch(
      /^ {2}left: \$0\.00; one more trial may need \$\d+\.\d+: raise --max-cost-usd$/mu,
    );
    expect(run.stderr).not.toContain("at a time");
  });

  test("that reaches the cap of its own trial is graded, with its limit (C-20)", async () => {
    await using scratch = await scratchDir();
    await writeModelTasks(scratch.path, 1, 6);
    const server = await aProvider();
    const own = usd(4 * CALL_MICRO_USD);
    const options = { cwd: scratch.path, env: providerEnv(server) };
    const run = await runModelBench({ ...options, args: ["--max-cost-per-trial", String(own)] });
    expect(run.code, run.stderr).toBe(0);
    const { trials } = await readModelJob(join(scratch.path, "jobs"));
    expect(trials[0]?.result.outcome).toEqual({
      kind: "scored",
      reward: 1,
      passed: true,
      limit: "cost",
    });
    expect(server.modelRequests().length).toBeLessThan(6);
    expect(trials[0]?.result.agent_result.cost_usd).toBeLessThanOrEqual(own);
  });

  test("interrupted in the middle of a call leaves no sandbox and no money behind", async () => {
    await using scratch = await scratchDir();
    await writeModelTasks(scratch.path, 3, 2);
    const server = await aProvider([{ kind: "hang", on: "any", after: 1, times: 1 }]);
    const stateDir = join(scratch.path, "state");
    const args = ["--max-cost-usd", "100", "-j", "1"];
    const options = { cwd: scratch.path, env: providerEnv(server), stateDir, args };
    const running = startModelBench(options);
    for (let tries = 0; server.modelRequests().length < 2 && tries < 600; tries += 1)
      await sleep(50);
    running.kill("SIGINT");
    const stopped = await running.ended;
    expect(stopped.code, stopped.stderr).toBe(130);
    const first = await readModelJob(join(scratch.path, "jobs"));
    // The call that was cut off may be billed: it stays charged, and nothing else is held.
    expect(first.summary.budget.spent.cost_usd).toBeGreaterThan(usd(CALL_MICRO_USD));
    expect(first.summary.budget.held).toMatchObject({ cost_usd: 0, sandbox_seconds: 0 });
    const list = await runBench(["sandbox", "list", "--json"], options);
    expect(JSON.parse(list.stdout)).toEqual([]);
    const again = await runModelBench(options);
    expect(again.code, again.stderr).toBe(0);
    const { summary } = await readModelJob(join(scratch.path, "jobs"));
    expect(summary["passed"]).toBe(3);
    expect(summary.budget.spent.cost_usd).toBeCloseTo(
      first.summary.budget.spent.cost_usd + usd(6 * CALL_MICRO_USD),
      9,
    );
  });

  test("killed with its runner in the middle of a call is charged what was in the air", async () => {
    await using scratch = await scratchDir();
    await writeModelTasks(scratch.path, 1, 2);
    const server = await aProvider([{ kind: "hang", on: "any", after: 1, times: 1 }]);
    const options = {
      cwd: scratch.path,
      env: providerEnv(server),
      args: ["--max-cost-usd", "100"],
    };
    const running = startModelBench(options);
    for (let tries = 0; server.modelRequests().length < 2 && tries < 600; tries += 1)
      await sleep(50);
    expect(server.modelRequests()).toHaveLength(2);
    running.kill("SIGKILL");
    await running.ended;
    const again = await runModelBench(options);
    expect(again.code, again.stderr).toBe(0);
    const { summary, trials } = await readModelJob(join(scratch.path, "jobs"));
    // The second run's two calls, the first one's settled call, and the whole reservation of the last.
    const known = usd(3 * CALL_MICRO_USD);
    const reservation = summary.budget.spent.cost_usd - known;
    const body = trials[0]?.rows[0]?.request_bytes ?? 0;
    expect(reservation).toBeGreaterThanOrEqual(usd(body * RATES.input + 100 * RATES.output));
    expect(summary.budget.spent).toMatchObject({ rollouts: 2, usd_unknown_trials: 1 });
    expect(summary["spend"]).toMatchObject({ uncounted_attempts: 1, unpriced_attempts: 1 });
    expect(again.stdout).toMatch(/^Cost: {6}>=\$.*\(1 killed attempt left no count\)$/mu);
    expect(summary.budget.held.cost_usd).toBe(0);
  });
});
