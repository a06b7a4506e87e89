import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { type BenchRun, runBench, scratchDir } from "./run-bench.ts";
import { type TaskFiles, writeTask } from "./write-task.ts";

/** What public tasks do that makes a zero say nothing about the agent, each in a few lines. */

const Result = z.object({
  rewards: z.object({ reward: z.number() }).nullable(),
  error_category: z.string().nullable(),
  sandbox_startup_info: z.looseObject({ raw_message: z.string() }).nullable(),
  isolation: z.object({ notes: z.array(z.string()) }).nullable(),
});

interface Ended extends BenchRun {
  /** result.json of each attempt, by the task's name. */
  readonly results: ReadonlyMap<string, z.infer<typeof Result>>;
}

async function runTasks(
  tasks: Readonly<Record<string, TaskFiles>>,
  { agent = "oracle", without = [] }: { agent?: string; without?: readonly string[] } = {},
): Promise<Ended> {
  await using dir = await scratchDir();
  for (const [name, files] of Object.entries(tasks))
    await writeTask(join(dir.path, "tasks", name), files);
  for (const path of without) await rm(join(dir.path, "tasks", path), { recursive: true });
  const flags = ["-a", agent, "--env", "local", "--retry-attempts", "0", "-o", "jobs"];
  const stateDir = join(dir.path, "state");
  const ended = await runBench(["run", "tasks", ...flags], { cwd: dir.path, stateDir });
  const results = new Map<string, z.infer<typeof Result>>();
  const listed = await readdir(join(dir.path, "jobs")).catch(() => []);
  const job = listed.find((each) => !each.includes("."));
  const attempts = job === undefined ? [] : await readdir(join(dir.path, "jobs", job));
  for (const attempt of attempts.filter((each) => each.includes("__"))) {
    const text = await readFile(join(dir.path, "jobs", job ?? "", attempt, "result.json"), "utf8");
    results.set(attempt.replace(/__\w+$/u, ""), Result.parse(JSON.parse(text)));
  }
  return { ...ended, results };
}

const ASKS_SERVICE =
  "python3 -c \"import urllib.request as r; r.urlopen('http://127.0.0.1:8080')\" &&" +
  " echo 1 >/logs/verifier/reward.txt || echo 0 >/logs/verifier/reward.txt";
const SERVICE = "python3 -m http.server -b 127.0.0.1 8080 >/dev/null 2>&1 </dev/null &";

test("a zero is told apart when the tests lacked a tool or a service of the agent's was ended", async () => {
  const { results, stderr, code } = await runTasks({
    "lacks-pytest": {
      test: "python3 -m pytest /tests -q && echo 1 >/logs/verifier/reward.txt || echo 0 >/logs/verifier/reward.txt",
    },
    "leaves-service": { solve: `${SERVICE}\nsleep 0.5`, test: ASKS_SERVICE },
    "starts-service": { test: `${SERVICE}\nsleep 2\n${ASKS_SERVICE}` },
  });
  expect(code).toBe(0);
  const rewards = [...results].map(([name, { rewards: given }]) => [name, given?.reward]);
  expect(Object.fromEntries(rewards)).toEqual({
    "lacks-pytest": 0,
    "leaves-service": 0,
    "starts-service": 1,
  });
  expect(stderr).toContain(
    "1 tasks (33%) scored 0 with a verifier that could not find or install a tool — check verifier/test-stdout.txt\n",
  );
  expect(stderr).toContain(
    "1 tasks (33%) scored 0 after processes that they left running were ended — a task's tests have to start the services that they ask\n",
  );
  const left = results.get("leaves-service")?.isolation?.notes;
  expect(left).toContainEqual(
    expect.stringMatching(/^\d+ processes that were left running were ended before the tests$/u),
  );
  for (const name of ["lacks-pytest", "starts-service"])
    expect(results.get(name)?.isolation?.notes).not.toContainEqual(
      expect.stringContaining("left running"),
    );
});

test("a Dockerfile that cannot be built is no zero, and the result says what its build said", async () => {
  const { results, stdout, stderr, code } = await runTasks({
    "copies-nothing": { dockerfile: "FROM debian:bookworm-slim\nCOPY solution/ /app/solution/\n" },
  });
  expect(code).toBe(1);
  const result = results.get("copies-nothing");
  expect(result).toMatchObject({ rewards: null, error_category: "sandbox_setup" });
  expect(result?.sandbox_startup_info?.raw_message).toBe(
    "Dockerfile:2: solution/ is not in the build context",
  );
  expect(stderr).toContain("1 tasks (100%) failed during sandbox startup");
  expect(stdout).toContain("next: `bench tasks check` shows what a task lacks");
});

test("a task whose image starts through an ENTRYPOINT is not scored without it", async () => {
  const dockerfile = 'FROM debian:bookworm-slim\nWORKDIR /app\nENTRYPOINT ["/start.sh"]\n';
  const { stderr, code, results } = await runTasks({ starts: { dockerfile }, plain: {} });
  expect(code).toBe(1);
  expect(stderr).toContain("skipped starts: environment/Dockerfile:3: ENTRYPOINT is not run");
  expect([...results.keys()]).toEqual(["plain"]);
});

test("an oracle gets no zero for a task that has no solution", async () => {
  const files = { solved: {}, unsolved: {} };
  const { code, stderr, results } = await runTasks(files, { without: ["unsolved/solution"] });
  expect(code).toBe(1);
  expect(stderr).toContain("skipped unsolved: there is no solution/solve.sh or oracle/solve.sh");
  expect([...results.keys()]).toEqual(["solved"]);
  const nop = await runTasks(files, { agent: "nop", without: ["unsolved/solution"] });
  expect([...nop.results.keys()].toSorted()).toEqual(["solved", "unsolved"]);
});
