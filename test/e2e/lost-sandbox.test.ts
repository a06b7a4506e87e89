import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { expect, test } from "vitest";
import { codeOf } from "../../host/error-code.ts";
import {
  aProvider,
  providerEnv,
  readModelJob,
  startModelBench,
  writeModelTasks,
} from "./model-run.ts";
import { type BenchOptions, runBench, scratchDir } from "./run-bench.ts";

const Sandboxes = z.array(z.looseObject({ id: z.string() }));

async function onlySandbox(options: BenchOptions): Promise<string> {
  const list = await runBench(["sandbox", "list", "--json"], options);
  const [sandbox, ...others] = Sandboxes.parse(JSON.parse(list.stdout));
  if (sandbox === undefined || others.length > 0) throw new Error(`not one: ${list.stdout}`);
  return sandbox.id;
}

/** Every process of a local sandbox, as the machine knows them. */
function processesOf(id: string): number[] {
  const args = [
    "/sys/fs/cgroup",
    "-ignore_readdir_race",
    "-path",
    `*${id}*`,
    "-name",
    "cgroup.procs",
  ];
  const files = execFileSync("find", args, { encoding: "utf8" }).split("\n").filter(Boolean);
  const pids = files.flatMap((path) => readFileSync(path, "utf8").split("\n").filter(Boolean));
  return [...new Set(pids.map(Number))];
}

/** The first process of a sandbox takes the others with it. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}

test.skipIf(process.getuid?.() !== 0)(
  "C-39: a sandbox that dies at its third call makes no further one, and its trial has no score",
  async () => {
    await using scratch = await scratchDir();
    await writeModelTasks(scratch.path, 1, 200);
    const server = await aProvider([{ kind: "slow-first-byte", delayMs: 200, on: "any" }]);
    const stateDir = join(scratch.path, "state");
    const options = { cwd: scratch.path, env: providerEnv(server), stateDir };
    const running = startModelBench({ ...options, args: ["--retry-attempts", "0"] });
    while (server.modelRequests().length < 3) await sleep(20);
    const pids = processesOf(await onlySandbox(options));
    expect(pids.length).toBeGreaterThan(0);
    for (const pid of pids) killIfThere(pid);
    const atKill = server.modelRequests().length;
    const run = await running.ended;
    expect(run.code, run.stderr).toBe(1);
    // One may have been on its way.
    expect(server.modelRequests().length).toBeLessThanOrEqual(atKill + 1);
    const { trials, summary } = await readModelJob(join(scratch.path, "jobs"));
    expect(trials.map(({ result }) => result.outcome)).toMatchObject([
      { kind: "unscored", fault: "infrastructure", category: "infra_failure" },
    ]);
    expect(summary.budget.held).toMatchObject({ cost_usd: 0 });
    expect(JSON.parse((await runBench(["sandbox", "list", "--json"], options)).stdout)).toEqual([]);
  },
);
