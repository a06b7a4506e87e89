// What this edition costs on this computer (`npm run bench:local`), in one run, as ratios and medians:
// the command line's start, a trial over the bare calls that do the same work, a job over a raw loop at
// the same width, memory over many trials, planning and aggregating ten thousand tasks.
// Keeps test/bench/results/local.json. Needs root, and a Docker daemon as `npm test` starts it.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeTask } from "../e2e/write-task.ts";
import { dockerHost } from "../setup/docker-host.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BENCH = join(ROOT, "dist/cli/main.js");
const scratch = mkdtempSync(join(tmpdir(), "bench-local-"));
const env = {
  ...process.env,
  DOCKER_HOST: dockerHost(),
  BENCHFLOW_STATE_DIR: join(scratch, "state"),
};
const IMAGE = "debian:bookworm-slim";

interface Results {
  [name: string]: unknown;
}

const results: Results = {
  measured_at: new Date().toISOString().slice(0, 10),
  machine: `${String(cpus().length)} cores, Node.js ${process.version}`,
};
try {
  execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: ROOT });
  results["start"] = measureStart();
  await writeTask(join(scratch, "one/task-01"), { dockerfile: `FROM ${IMAGE}\nWORKDIR /app\n` });
  for (let index = 1; index <= 12; index += 1)
    await writeTask(join(scratch, "twelve", `task-${String(index).padStart(2, "0")}`), {
      dockerfile: `FROM ${IMAGE}\nWORKDIR /app\n`,
    });
  for (const kind of ["local", "docker"] as const) {
    runBench("one", kind, 1);
    results[`${kind}_one_trial`] = measureOne(kind);
    results[`${kind}_twelve_at_2`] = await measureTwelve(kind);
  }
  results["memory"] = await measureMemory();
  for (const script of ["plan", "aggregate"]) {
    const printed = execFileSync("npx", ["tsx", `test/bench/${script}.ts`], {
      cwd: ROOT,
      encoding: "utf8",
    });
    results[script] = JSON.parse(printed.slice(printed.indexOf("{")));
  }
  const dir = join(ROOT, "test/bench/results");
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "local.json"), `${JSON.stringify(results, null, 2)}\n`);
  console.log(JSON.stringify(results, null, 2));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** `bench --version` against `node -e 0`, in alternating pairs. */
function measureStart(): Results {
  const ratios: number[] = [];
  for (let pair = 0; pair < 25; pair += 1) {
    const bare = wallMs(() => spawnSync(process.execPath, ["-e", "0"]));
    const ours = wallMs(() => spawnSync(process.execPath, [BENCH, "--version"]));
    ratios.push(ours / bare);
  }
  return { pairs: ratios.length, ratio_to_node: median(ratios), limit: 2 };
}

/** A trial's own total against the bare calls of the same backend, in alternating pairs. */
function measureOne(kind: "local" | "docker"): Results {
  const over: number[] = [];
  const bare: number[] = [];
  const ours: number[] = [];
  for (let pair = 0; pair < 11; pair += 1) {
    const rawSec = wallMs(() => rawTrial(kind, `raw-${String(pair)}`)) / 1000;
    const trialSec = trialSeconds(runBench("one", kind, 1));
    bare.push(rawSec);
    ours.push(trialSec);
    over.push(trialSec - rawSec);
  }
  return {
    pairs: over.length,
    raw_sec: median(bare),
    trial_sec: median(ours),
    over_sec: median(over),
    limit_sec: kind === "docker" ? 0.3 : 0.25,
  };
}

async function measureTwelve(kind: "local" | "docker"): Promise<Results> {
  const bare: number[] = [];
  const ours: number[] = [];
  for (let pair = 0; pair < 5; pair += 1) {
    const started = performance.now();
    await rawLoop(kind, 12, 2);
    bare.push((performance.now() - started) / 1000);
    ours.push(wallMs(() => runBench("twelve", kind, 2)) / 1000);
  }
  const ratios = ours.map((each, index) => each / (bare[index] ?? Number.NaN));
  return {
    pairs: ratios.length,
    raw_sec: median(bare),
    bench_sec: median(ours),
    ratio: median(ratios),
    limit: 1.25,
  };
}

/** Peak resident memory of the `bench` process over 10 and over 500 local trials. */
async function measureMemory(): Promise<Results> {
  const peaks: Record<string, number> = {};
  for (const count of [10, 500]) {
    const name = `many-${String(count)}`;
    for (let index = 0; index < count; index += 1)
      await writeTask(join(scratch, name, `task-${String(index).padStart(3, "0")}`));
    peaks[`mb_${String(count)}`] = await peakMemoryMb(name);
  }
  const { mb_10: few = 0, mb_500: many = 0 } = peaks;
  return { ...peaks, grown_mb: many - few, limit_mb: 30 };
}

async function peakMemoryMb(tasks: string): Promise<number> {
  const child = spawn(process.execPath, [BENCH, ...runArgs(tasks, "local", 2)], {
    cwd: scratch,
    env,
    stdio: "ignore",
  });
  let peakKb = 0;
  const timer = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${String(child.pid)}/status`, "utf8");
      peakKb = Math.max(peakKb, Number(/VmHWM:\s+(\d+)/u.exec(status)?.[1] ?? 0));
    } catch {
      // It ended between two looks.
    }
  }, 100);
  const code = await new Promise((resolve) => child.on("close", resolve));
  clearInterval(timer);
  if (code !== 0) throw new Error(`bench ended with ${String(code)}`);
  return Math.round(peakKb / 1024);
}

function runArgs(tasks: string, kind: string, width: number): string[] {
  return `run ${tasks} -a oracle --env ${kind} -j ${String(width)} --fresh -o jobs`.split(" ");
}

/** Runs a job and returns its folder. */
function runBench(tasks: string, kind: string, width: number): string {
  const run = spawnSync(process.execPath, [BENCH, ...runArgs(tasks, kind, width)], {
    cwd: scratch,
    env,
    encoding: "utf8",
  });
  if (run.status !== 0) throw new Error(run.stderr);
  return join(scratch, /^Artifacts: (.*)$/mu.exec(run.stdout)?.[1] ?? "");
}

function trialSeconds(job: string): number {
  const trial = readdirSync(job).find((name) => name.includes("__")) ?? "";
  const result = JSON.parse(readFileSync(join(job, trial, "result.json"), "utf8")) as {
    timing_spans: { seconds: number }[];
  };
  return result.timing_spans.reduce((sum, { seconds }) => sum + seconds, 0);
}

async function rawLoop(kind: "local" | "docker", count: number, width: number): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      const script = rawScript(kind, `loop-${String(next)}`);
      const child = spawn("/bin/sh", ["-ec", script], { cwd: scratch, env, stdio: "ignore" });
      await new Promise((resolve) => child.on("close", resolve));
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
}

function rawTrial(kind: "local" | "docker", name: string): void {
  execFileSync("/bin/sh", ["-ec", rawScript(kind, name)], { cwd: scratch, env, stdio: "ignore" });
}

/** The least that does a trial's work: a fresh sandbox, the solution, the tests, the verdict, gone. */
function rawScript(kind: "local" | "docker", name: string): string {
  const solve = "mkdir -p /app /logs/verifier; echo 1 >/app/answer";
  const tests = "cp /app/answer /logs/verifier/reward.txt";
  if (kind === "docker")
    return `d=/usr/bin/docker; c=$($d create --network none ${IMAGE} sleep infinity); $d start $c
      $d cp one/task-01/tests $c:/tests; $d exec $c sh -c '${solve}'; $d exec $c sh -c '${tests}'
      $d cp $c:/logs ${name}; $d rm -f $c`;
  return `mkdir -p ${name}/up ${name}/work ${name}/box; cd ${name}
    mount -t overlay -o lowerdir=/,upperdir=up,workdir=work overlay box
    unshare --mount --pid --ipc --net --fork chroot box sh -c '${solve}'
    cp -r ../one/task-01/tests box/tests
    unshare --mount --pid --ipc --net --fork chroot box sh -c '${tests}'
    cp -r box/logs logs; umount box; rm -rf up work`;
}

function wallMs(work: () => void): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round((sorted[Math.floor(sorted.length / 2)] ?? Number.NaN) * 1000) / 1000;
}
