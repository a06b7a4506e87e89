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
  outcome: z.looseObject({ fault: z.string().optional() }),
  sandbox_startup_info: z.looseObject({ raw_message: z.string() }).nullable(),
  isolation: z.object({ notes: z.array(z.string()) }).nullable(),
});

interface Ended extends BenchRun {
  /** result.json of each attempt, by the task's name. */
  readonly results: ReadonlyMap<string, z.infer<typeof Result>>;
  readonly attempts: number;
}

interface RunWish {
  readonly agent?: string;
  readonly without?: readonly string[];
  readonly retries?: number;
}

async function runTasks(
  tasks: Readonly<Record<string, TaskFiles>>,
  { agent = "oracle", without = [], retries = 0 }: RunWish = {},
): Promise<Ended> {
  await using dir = await scratchDir();
  for (const [name, files] of Object.entries(tasks))
    await writeTask(join(dir.path, "tasks", name), files);
  for (const path of without) await rm(join(dir.path, "tasks", path), { recursive: true });
  const flags = ["-a", agent, "--env", "local", "--retry-attempts", String(retries), "-o", "jobs"];
  const stateDir = join(dir.path, "state");
  const ended = await runBench(["run", "tasks", ...flags], { cwd: dir.path, stateDir });
  const results = new Map<string, z.infer<typeof Result>>();
  const listed = await readdir(join(dir.path, "jobs")).catch(() => []);
  const job = listed.find((each) => !each.includes("."));
  const entries = job === undefined ? [] : await readdir(join(dir.path, "jobs", job));
  const attempts = entries.filter((each) => each.includes("__"));
  for (const attempt of attempts) {
    const text = await readFile(join(dir.path, "jobs", job ?? "", attempt, "result.json"), "utf8");
    results.set(attempt.replace(/__\w+$/u, ""), Result.parse(JSON.parse(text)));
  }
  return { ...ended, results, attempts: attempts.length };
}

const ASKS_SERVICE =
  "python3 -c \"import urllib.request as r; r.urlopen('http://127.0.0.1:8080')\" &&" +
  " echo 1 >/logs/verifier/reward.txt || echo 0 >/logs/verifier/reward.txt";
const SERVICE = "python3 -m http.server -b 127.0.0.1 8080 >/dev/null 2>&1 </dev/null &";

test("a zero is told apart when the tests lacked a tool or a service of the agent's was ended (C-19)", async () => {
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
  const dockerfile = "FROM debian:bookworm-slim\nCOPY solution/ /app/solution/\n";
  const { results, attempts, stdout, stderr, code } = await runTasks(
    { "copies-nothing": { dockerfile } },
    { retries: 2 },
  );
  expect(code).toBe(1);
  // The task's own fault: the same files give no image again, so no retry is made.
  expect(attempts).toBe(1);
  const result = results.get("copies-nothing");
  expect(result).toMatchObject({
    rewards: null,
    error_category: "sandbox_setup",
    outcome: { fault: "task" },
  });
  expect(result?.sandbox_startup_info?.raw_message).toBe(
    "Dockerfile:2: solution/ is not in the build context",
  );
  expect(stderr).toContain("1 tasks (100%) failed during sandbox startup");
  expect(stdout).toContain("next: `bench tasks check` shows what a task lacks");
});

const BEATS = [
  "FROM debian:bookworm-slim",
  "WORKDIR /app",
  String.raw`RUN printf '#!/bin/sh\n(while :; do echo beat >/run/beat; sleep 0.1; done) &\n' >/start.sh`,
];
const image = (...lines: readonly string[]): string => [...BEATS, ...lines, ""].join("\n");
const HEARS = "rm -f /run/beat; sleep 1; [ -s /run/beat ]";

test("what an image's ENTRYPOINT starts is there for the agent and, whoever the agent was, for the tests", async () => {
  const passes = String.raw`RUN echo 'exec "$@"' >>/start.sh && chmod 755 /start.sh`;
  const files = {
    solve: `[ -s /run/beat ] && echo 1 >/app/answer`,
    agent: `[ -s /run/beat ] && echo 1 >answer`,
    test: `${HEARS} && cp /app/answer /logs/verifier/reward.txt || echo 0 >/logs/verifier/reward.txt`,
  };
  const tasks = {
    passes: { ...files, dockerfile: image(passes, 'ENTRYPOINT ["/start.sh"]') },
    front: {
      ...files,
      dockerfile: image("RUN echo wait >>/start.sh", "ENTRYPOINT sh /start.sh"),
    },
    ends: {
      ...files,
      dockerfile: image("RUN echo 'exit 4' >>/start.sh", "ENTRYPOINT . /start.sh"),
    },
  };
  for (const agent of ["oracle", "script"]) {
    const { results, stderr } = await runTasks(tasks, { agent });
    expect(results.get("passes")?.rewards, stderr).toEqual({ reward: 1 });
    expect(results.get("front")?.rewards, stderr).toEqual({ reward: 1 });
    expect(results.get("passes")?.isolation?.notes).toContain(
      "the image's ENTRYPOINT runs in the sandbox, as uid 0",
    );
    expect(results.get("ends")).toMatchObject({
      rewards: null,
      error_category: "sandbox_setup",
      sandbox_startup_info: {
        raw_message: expect.stringContaining("the image's ENTRYPOINT ended with exit code 4"),
      },
    });
  }
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
