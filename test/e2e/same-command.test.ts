import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ModelServer } from "../fakes/model-server/start-model-server.ts";
import {
  CALL_MICRO_USD,
  type ModelBench,
  providerEnv,
  readModelJob,
  runModelBench,
  startModelBench,
  aProvider,
  usd,
  writeModelTasks,
} from "./model-run.ts";
import { scratchDir } from "./run-bench.ts";

const CAP = usd(9 * CALL_MICRO_USD);

/** Six tasks of three calls each, twice what the cap bears. */
async function aBench(cwd: string): Promise<ModelBench & { readonly server: ModelServer }> {
  await writeModelTasks(cwd, 6, 3);
  const server = await aProvider();
  const args = ["--max-cost-usd", String(CAP), "-j", "2"];
  return { cwd, env: providerEnv(server), args, server };
}

const jobsIn = async (jobs: string): Promise<string[]> =>
  (await readdir(jobs)).filter((name) => /^\d{4}-/u.test(name));

/** Every pot that the ledger ever wrote. */
async function potsIn(ledger: string): Promise<string[]> {
  const pots = new Set<string>();
  for (const name of await readdir(ledger)) {
    if (!/^(?:journal|snapshot)-/u.test(name)) continue;
    const text = await readFile(join(ledger, name), "utf8");
    for (const [, pot = ""] of text.matchAll(/"([^"]+)\/head"/gu)) pots.add(pot);
  }
  return [...pots];
}

test("two equal commands started at once have one job, one pot and one cap", async () => {
  await using scratch = await scratchDir();
  const { server, ...bench } = await aBench(scratch.path);
  const runs = await Promise.all([runModelBench(bench), runModelBench(bench)]);
  const jobs = join(scratch.path, "jobs");
  expect(await jobsIn(jobs)).toHaveLength(1);
  expect(await potsIn(join(jobs, ".ledger"))).toHaveLength(1);
  expect((await readdir(jobs)).filter((name) => name.startsWith(".start-"))).toEqual([]);
  // One works and runs into the cap; the other one is refused, unless it came when the first had ended.
  expect(new Set(runs.map(({ code }) => code))).toEqual(new Set([1, 2]));
  const refused = runs.find(({ code }) => code === 2);
  expect(refused?.stderr).toMatch(/^job \S+ is already running in process \d+$/mu);
  expect(refused?.stderr).toMatch(/^ {2}next: wait for it to end/mu);
  const { summary } = await readModelJob(jobs);
  const calls = server.modelRequests().length;
  expect(calls).toBeGreaterThan(0);
  expect(usd(calls * CALL_MICRO_USD)).toBeLessThanOrEqual(CAP);
  expect(summary.budget.spent.cost_usd).toBeCloseTo(usd(calls * CALL_MICRO_USD), 9);
});

test("a command that is killed while it starts keeps no other from starting, nor a cap from counting", async () => {
  await using scratch = await scratchDir();
  const { server, ...bench } = await aBench(scratch.path);
  const jobs = join(scratch.path, "jobs");
  const isStarting = async (): Promise<boolean> =>
    existsSync(jobs) && (await readdir(jobs)).some((name) => name.startsWith(".start-"));
  // A claim stands for milliseconds: some kills hit one, some come later.
  for (let kills = 0; kills < 4; kills += 1) {
    const running = startModelBench(bench);
    const untilMs = performance.now() + 60_000;
    while (!(await isStarting()) && performance.now() < untilMs) await sleep(1);
    await sleep(kills * 10);
    running.kill("SIGKILL");
    await running.ended;
  }
  const left = await runModelBench(bench);
  expect(left.code, left.stderr).toBe(1);
  expect((await readdir(jobs)).filter((name) => name.startsWith(".start-"))).toEqual([]);
  expect(await jobsIn(jobs)).toHaveLength(1);
  expect(usd(server.modelRequests().length * CALL_MICRO_USD)).toBeLessThanOrEqual(CAP);
  const { summary } = await readModelJob(jobs);
  expect(summary.budget).toMatchObject({ stopped: true, caps: { max_cost_usd: CAP } });
});
