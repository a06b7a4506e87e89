import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runBench, startBench } from "../e2e/run-bench.ts";
import { deployToEmulator } from "./deployed-stack.ts";
import { emulatedEnv } from "./emulated-account.ts";
import { exampleTasks } from "./example-tasks.ts";

const TASKS = ["csv-totals", "hello-file", "word-count"];
let tasksDir = "";
let work = "";

/** A run on Fargate: the emulated account, and this machine's Node as the runner's image. */
function cloudEnv(): Record<string, string> {
  return {
    ...emulatedEnv(),
    BENCHFLOW_RUNNER_IMAGE: "bench-base:node",
    PATH: process.env["PATH"] ?? "",
  };
}

beforeAll(async () => {
  await deployToEmulator();
  tasksDir = exampleTasks(TASKS);
  work = mkdtempSync(join(tmpdir(), "bench-sweep-"));
});

afterAll(() => {
  for (const dir of [tasksDir, work]) rmSync(dir, { recursive: true });
});

interface Tree {
  readonly dir: string;
  readonly summary: Record<string, unknown>;
  readonly attempts: ReadonlyMap<string, string>;
}

/** Tasks of the attempts here that are whole. */
function sealedIn(jobsDir: string): string[] {
  const paths = existsSync(jobsDir) ? filesOf(jobsDir) : [];
  return paths
    .flatMap((path) => /([^/]+)__[0-9a-f]{8}\/seal\.json$/u.exec(path)?.[1] ?? [])
    .toSorted();
}

function readTree(jobsDir: string): Tree {
  const job = readdirSync(jobsDir).find((name) => /^\d{4}-/u.test(name));
  const dir = join(jobsDir, job ?? "");
  const attempts = readdirSync(dir).flatMap((name) => {
    const task = /^(.+)__[0-9a-f]{8}$/u.exec(name)?.[1];
    return task === undefined ? [] : ([[task, join(dir, name)]] as const);
  });
  return {
    dir,
    summary: JSON.parse(readFileSync(join(dir, "summary.json"), "utf8")),
    attempts: new Map(attempts),
  };
}

/** What may differ between two backends: identities, times, and the sandbox's own figures. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== "object" || value === null) return value;
  const own =
    /(?:_sec|_at|_at_utc|_utc|_name|seconds|elapsed|timing|timing_spans|resources|isolation|sandbox_id|environment|settings_digest)$/u;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      own.test(key) && key !== "task_name" && key !== "agent_name"
        ? []
        : [[key, comparable(inner)]],
    ),
  );
}

function filesOf(dir: string): string[] {
  const entries = readdirSync(dir, { withFileTypes: true, recursive: true });
  return entries.map((entry) => {
    const path = relative(dir, join(entry.parentPath, entry.name));
    return entry.isDirectory() ? `${path}/` : path;
  });
}

function resultOf(attemptDir: string): unknown {
  return JSON.parse(readFileSync(join(attemptDir, "result.json"), "utf8"));
}

/** Counts and scores of the final block; paths and times go. */
function plainBlock(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\d__\d\d-\d\d-\d\d/gu, "JOB")
    .replaceAll(/\(\d+(?:\.\d+)?m?i?n? ?\d*s?\)|\d+(?:\.\d+)? ?(?:s|min)\b/gu, "TIME")
    .replaceAll(/(?:cloud|docker)-jobs/gu, "JOBS");
}

const baseImages = (): string => {
  const file = join(work, "base-images.json");
  writeFileSync(file, JSON.stringify({ "debian:bookworm-slim": "bench-base:debian" }));
  return file;
};

test("a sweep on Fargate gives the tree and the console of a run on this computer", async () => {
  const common = [tasksDir, "-a", "oracle", "--base-image-map", baseImages()];
  const cloud = await runBench(["run", ...common, "--env", "fargate", "--jobs-dir", "cloud-jobs"], {
    cwd: work,
    env: cloudEnv(),
  });
  expect(cloud.code, cloud.stderr).toBe(0);
  const local = await runBench(["run", ...common, "--env", "docker", "--jobs-dir", "docker-jobs"], {
    cwd: work,
    env: { PATH: process.env["PATH"] ?? "", DOCKER_HOST: process.env["DOCKER_HOST"] ?? "" },
  });
  expect(local.code, local.stderr).toBe(0);
  expect(plainBlock(cloud.stdout)).toBe(plainBlock(local.stdout));

  const [there, here] = [readTree(join(work, "cloud-jobs")), readTree(join(work, "docker-jobs"))];
  expect(comparable(there.summary)).toEqual(comparable(here.summary));
  expect(there.summary["environment"]).toBe("fargate");
  expect([...there.attempts.keys()].toSorted()).toEqual(TASKS);
  for (const [task, dir] of there.attempts) {
    const ours = here.attempts.get(task) ?? "";
    expect(filesOf(dir).toSorted(), task).toEqual(filesOf(ours).toSorted());
    expect(comparable(resultOf(dir)), task).toEqual(comparable(resultOf(ours)));
  }

  // The aggregate in the account says what this computer says.
  const [run = ""] = /\S+-[0-9a-f]{8}(?=: 3 trials start)/u.exec(cloud.stderr) ?? [];
  const elsewhere = join(work, "elsewhere");
  const synced = await runBench(["sync", run, "--jobs-dir", elsewhere], {
    cwd: work,
    env: cloudEnv(),
  });
  expect(synced.code, synced.stderr).toBe(0);
  expect(synced.stderr).toContain("3 of 3 trials have ended");
  const copy = readTree(elsewhere);
  expect(copy.summary).toEqual(there.summary);
  for (const [task, dir] of copy.attempts)
    for (const path of filesOf(dir).filter((each) => !each.endsWith("/")))
      expect(readFileSync(join(dir, path)), path).toEqual(
        readFileSync(join(there.attempts.get(task) ?? "", path)),
      );

  // Results read the synced tree as any other; the same command has nothing left to do.
  const before = readFileSync(join(there.dir, "summary.json"), "utf8");
  const again = await runBench(["run", ...common, "--env", "fargate", "--jobs-dir", "cloud-jobs"], {
    cwd: work,
    env: cloudEnv(),
  });
  expect(again.code, again.stderr).toBe(0);
  expect(again.stderr).toContain("nothing ran and these are the earlier results");
  expect(readFileSync(join(there.dir, "summary.json"), "utf8")).toBe(before);
});

test("an image's entry point runs, and a verifier that fails leaves its task unscored", async () => {
  const tasks = mkdtempSync(join(tmpdir(), "bench-sweep-tasks-"));
  cpSync(tasksDir, tasks, { recursive: true });
  writeFileSync(join(tasks, "word-count/tests/test.sh"), "#!/bin/sh\nexit 3\n");
  const start = ["/bin/sh", "-c", 'echo up > /srv/entry; exec "$@"', "sh"];
  const dockerfile = `FROM debian:bookworm-slim\nWORKDIR /app\nENTRYPOINT ${JSON.stringify(start)}\n`;
  writeFileSync(join(tasks, "hello-file/environment/Dockerfile"), dockerfile);
  const check = "#!/bin/sh\ngrep -c up /srv/entry > /logs/verifier/reward.txt\n";
  writeFileSync(join(tasks, "hello-file/tests/test.sh"), check);
  const run = await runBench(
    [
      "run",
      tasks,
      "-a",
      "oracle",
      "-i",
      "word-count",
      "-i",
      "hello-file",
      "--env",
      "fargate",
      "--jobs-dir",
      "mixed",
      "--base-image-map",
      baseImages(),
    ],
    { cwd: work, env: cloudEnv() },
  );
  rmSync(tasks, { recursive: true });
  expect(run.code, run.stderr).toBe(1);
  const { summary } = readTree(join(work, "mixed"));
  expect(summary).toMatchObject({ passed: 1, verifier_errored: 1 });
});

test("Ctrl-C ends every task, brings what ended, and the same command finishes the rest", async () => {
  const tasks = exampleTasks(["hello-file", "word-count"]);
  const solve = join(tasks, "word-count/solution/solve.sh");
  const solution = readFileSync(solve, "utf8");
  writeFileSync(solve, `#!/bin/sh\nsleep 60\n${solution}`);
  const args = ["run", tasks, "-a", "oracle", "--env", "fargate", "--jobs-dir", "stopped"];
  const options = { cwd: work, env: cloudEnv() };
  const started = startBench([...args, "--base-image-map", baseImages()], options);
  const jobs = join(work, "stopped");
  // The quick one has ended and is here; the other one sleeps.
  await expect
    .poll(() => sealedIn(jobs), { timeout: 90_000, interval: 500 })
    .toEqual(["hello-file"]);
  started.kill("SIGINT");
  const run = await started.ended;
  expect(run.code, run.stderr).toBe(130);
  expect(run.stderr).toContain("running now: 0");
  expect(run.stderr).toContain("1 of 2 trials have a score");
  // The runner was stopped by the platform and still sealed and sent its attempt.
  expect(sealedIn(jobs)).toEqual(["hello-file", "word-count"]);

  writeFileSync(solve, solution);
  const again = await runBench([...args, "--base-image-map", baseImages()], options);
  rmSync(tasks, { recursive: true });
  expect(again.code, again.stderr).toBe(0);
  expect(readTree(jobs).summary).toMatchObject({ passed: 2, total: 2 });
});

test("tasks that want no network are refused before anything is sent", async () => {
  const run = await runBench(
    ["run", "examples/tasks", "-a", "oracle", "--env", "fargate", "--jobs-dir", join(work, "none")],
    { cwd: process.cwd(), env: cloudEnv() },
  );
  expect(run.code).toBe(2);
  expect(run.stderr).toContain("cannot cut the network");
});
