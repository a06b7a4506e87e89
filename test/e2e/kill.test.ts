import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { type BenchOptions, type BenchRun, runBench, scratchDir, startBench } from "./run-bench.ts";

const IS_SOAK = process.env["BENCH_TEST_SOAK"] !== undefined;
const RUNS = IS_SOAK ? 200 : 10;
const SEED = Number(process.env["BENCH_TEST_SEED"] ?? Date.now() % 1_000_000_000);
const TASKS = 6;
const REPEATS = 2;
/** Kills of one job before it is left to end. */
const MAX_KILLS = 3;

/** Six tasks of which one fails and one is partly right, so that the numbers are not all alike. */
async function writeTasks(dir: string): Promise<void> {
  for (let index = 0; index < TASKS; index += 1) {
    const task = join(dir, `task-${String(index)}`);
    for (const folder of ["environment", "tests", "solution"])
      await mkdir(join(task, folder), { recursive: true });
    const reward = index === 1 ? "0" : index === 2 ? "0.5" : "1";
    await writeFile(join(task, "task.toml"), 'version = "1.0"\n[agent]\ntimeout_sec = 60\n');
    await writeFile(join(task, "instruction.md"), "Write the number.\n");
    await writeFile(
      join(task, "environment/Dockerfile"),
      "FROM debian:bookworm-slim\nWORKDIR /app\n",
    );
    await writeFile(
      join(task, "solution/solve.sh"),
      `#!/bin/bash\nsleep 0.${String(index)}\necho ${reward} >/app/answer\n`,
    );
    await writeFile(
      join(task, "tests/test.sh"),
      "#!/bin/bash\ncp /app/answer /logs/verifier/reward.txt\n",
    );
  }
}

function runArgs(jobs: string): string[] {
  const flags = `-a oracle --env local -j 4 --trials ${String(REPEATS)} -o ${jobs}`;
  return ["run", "tasks", ...flags.split(" ")];
}

/** A summary without what a resume may change: names, times, attempts and what they cost. */
async function comparable(jobs: string): Promise<unknown> {
  const summaries: unknown[] = [];
  for (const repeat of ["trial-01", "trial-02"]) {
    const dir = join(jobs, "oracle", repeat);
    const [job, ...others] = await readdir(dir);
    expect(others).toEqual([]);
    const summary: unknown = JSON.parse(
      await readFile(join(dir, job ?? "", "summary.json"), "utf8"),
    );
    summaries.push(strip(summary));
  }
  const matrix: unknown = JSON.parse(await readFile(join(jobs, "matrix-summary.json"), "utf8"));
  return {
    summaries,
    matrix: JSON.parse(JSON.stringify(matrix).replaceAll(basename(jobs), "JOBS")),
  };
}

const VOLATILE = /^(job_name|elapsed_sec|.*_time_sec|spend|source)$/u;

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !VOLATILE.test(key));
  return Object.fromEntries(kept.map(([key, member]) => [key, strip(member)]));
}

/**
 * Every trial scored exactly once, every ended attempt sealed, no torn file, no leftover part.
 * Resolves to the ids of all sandboxes that the attempts recorded.
 */
async function checkTree(jobs: string): Promise<string[]> {
  const sandboxes: string[] = [];
  for (const repeat of ["trial-01", "trial-02"]) {
    const dir = join(jobs, "oracle", repeat);
    const [job = ""] = await readdir(dir);
    const scored = new Map<string, number>();
    for (const entry of await readdir(join(dir, job), { withFileTypes: true })) {
      expect(entry.name).not.toMatch(/\.part|\.tmp/u);
      if (!entry.isDirectory()) continue;
      const files = await readdir(join(dir, job, entry.name));
      if (files.includes("sandbox.json")) {
        const text = await readFile(join(dir, job, entry.name, "sandbox.json"), "utf8");
        sandboxes.push((JSON.parse(text) as { sandbox_id: string }).sandbox_id);
      }
      if (!files.includes("result.json")) continue;
      expect(files).toContain("seal.json");
      const result = JSON.parse(
        await readFile(join(dir, job, entry.name, "result.json"), "utf8"),
      ) as { task_name: string; outcome: { kind: string } };
      if (result.outcome.kind !== "scored") continue;
      scored.set(result.task_name, (scored.get(result.task_name) ?? 0) + 1);
    }
    const names = Array.from({ length: TASKS }, (_, index) => `task-${String(index)}`);
    expect(Object.fromEntries(scored)).toEqual(Object.fromEntries(names.map((name) => [name, 1])));
  }
  return sandboxes;
}

/** What a sandbox of this state folder could leave on the machine. */
async function leftovers(stateDir: string): Promise<string[]> {
  const mounts = (await readFile("/proc/self/mountinfo", "utf8"))
    .split("\n")
    .filter((line) => line.includes(stateDir));
  const sandboxes = await readdir(join(stateDir, "sandboxes")).catch(() => []);
  const loops = execFileSync("losetup", ["-l", "-n", "-O", "BACK-FILE"], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(stateDir));
  const processes: string[] = [];
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/u.test(pid)) continue;
    const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (line.includes(stateDir)) processes.push(line.replaceAll("\0", " "));
  }
  return [...mounts, ...sandboxes, ...loops, ...processes];
}

function cgroupsOf(ids: readonly string[]): string[] {
  // Other programs make and remove groups meanwhile.
  const args = ["/sys/fs/cgroup", "-ignore_readdir_race", "-type", "d", "-name", "bench-local-*"];
  const found = execFileSync("find", args, { encoding: "utf8" });
  return found.split("\n").filter((path) => ids.some((id) => path.includes(id)));
}

/** Starts the job again and again, killing it, until it ends by itself. */
async function runWithKills(
  jobs: string,
  options: BenchOptions,
  nextKillMs: () => number,
): Promise<{ readonly last: BenchRun; readonly kills: number }> {
  for (let kills = 0; kills < MAX_KILLS; kills += 1) {
    const bench = startBench(runArgs(jobs), options);
    const ended = bench.ended.then(() => "ended");
    if ((await Promise.race([ended, sleep(nextKillMs(), "kill")])) === "ended")
      return { last: await bench.ended, kills };
    bench.kill("SIGKILL");
    await bench.ended;
  }
  return { last: await runBench(runArgs(jobs), options), kills: MAX_KILLS };
}

const SOAK_RESULT = fileURLToPath(new URL("../bench/results/kill-soak.json", import.meta.url));

/** What a soak came to so far, kept beside the benchmarks' results. */
interface SoakCount {
  readonly runs_passed: number;
  readonly kills: number;
  /** Attempts that a kill cut off, beyond one for each trial. */
  readonly attempts_lost: number;
}

async function keepSoak(count: SoakCount): Promise<void> {
  if (!IS_SOAK) return;
  const kept = {
    measured_at: new Date().toISOString().slice(0, 10),
    seed: SEED,
    runs: RUNS,
    trials_a_run: TASKS * REPEATS,
    ...count,
  };
  await writeFile(SOAK_RESULT, `${JSON.stringify(kept, null, 2)}\n`);
}

test.skipIf(process.getuid?.() !== 0)(
  `a job killed at any moment ends as an undisturbed one (${String(RUNS)} runs, seed ${String(SEED)})`,
  async () => {
    await using dir = await scratchDir();
    const stateDir = join(dir.path, "state");
    await writeTasks(join(dir.path, "tasks"));
    const options = { cwd: dir.path, stateDir };
    const startedMs = performance.now();
    const undisturbed = await runBench(runArgs("undisturbed"), options);
    const fullMs = Math.ceil(performance.now() - startedMs);
    expect(undisturbed.stderr).toContain("Job complete");
    expect(undisturbed.code).toBe(0);
    const expected = await comparable(join(dir.path, "undisturbed"));
    const random = xoroshiro128plus(SEED);
    let count: SoakCount = { runs_passed: 0, kills: 0, attempts_lost: 0 };

    for (let run = 0; run < RUNS; run += 1) {
      const jobs = `jobs-${String(run)}`;
      const nextKillMs = (): number => uniformInt(random, 0, fullMs);
      const { last, kills } = await runWithKills(jobs, options, nextKillMs);
      expect(last.stderr).not.toContain("unexpected error");
      expect(last.code).toBe(0);
      const sandboxes = await checkTree(join(dir.path, jobs));
      expect(sandboxes.length).toBeGreaterThanOrEqual(TASKS * REPEATS);
      expect(cgroupsOf(sandboxes)).toEqual([]);
      expect(await comparable(join(dir.path, jobs))).toEqual(expected);
      expect(await leftovers(stateDir)).toEqual([]);
      count = {
        runs_passed: count.runs_passed + 1,
        kills: count.kills + kills,
        attempts_lost: count.attempts_lost + sandboxes.length - TASKS * REPEATS,
      };
      await keepSoak(count);
    }
  },
  RUNS * 60_000,
);
