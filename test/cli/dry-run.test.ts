import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GOOD, tempFolder, writeFiles } from "../stores/task-folders/temp-tasks.ts";
import { benchWith, type Ran } from "./run-bench.ts";

/** A folder with two tasks, and `bench` in it without any daemon. */
async function twoTasks() {
  const root = await tempFolder();
  await writeFiles(join(root, "tasks/good"), GOOD);
  await writeFiles(join(root, "tasks/gpu"), { ...GOOD, "task.toml": "[environment]\ngpus = 1\n" });
  const env = {
    BENCHFLOW_STATE_DIR: join(root, "state"),
    DOCKER_HOST: `unix://${join(root, "no.sock")}`,
  };
  return {
    root,
    tasks: join(root, "tasks"),
    run: async (...args: string[]): Promise<Ran> => await benchWith(env, root, ...args),
  };
}

const HERE =
  /^--env local: (?:1 of 2 tasks can run|not here \(.+\); .+ 1 of 2 tasks could run); 1 cannot: .*GPUs.*: gpu$/mu;

test.each(["local", "docker"])(
  "a dry run for %s says what each backend can run, and creates nothing at all",
  async (environment) => {
    const { root, tasks, run } = await twoTasks();
    const flags = ["-a", "oracle", "--env", environment, "-o", join(root, "jobs"), "--dry-run"];
    const { out, code } = await run("run", tasks, ...flags);
    expect(out).toMatch(HERE);
    expect(out).toMatch(/^--env docker: not here \(no docker daemon answers: .+\)/mu);
    expect(out).toMatch(/good +run +1/u);
    expect(code).toBe(1);
    expect(await readdir(root)).toEqual(["tasks"]);
  },
);

test("the JSON of a dry run is the plan, and what each backend can run beside it", async () => {
  const { root, tasks, run } = await twoTasks();
  const flags = [
    "-a",
    "oracle",
    "--env",
    "docker",
    "-o",
    join(root, "jobs"),
    "--dry-run",
    "--json",
  ];
  const { out } = await run("run", tasks, ...flags);
  const { jobs, backends } = JSON.parse(out) as {
    jobs: unknown[];
    backends: { environment: string; canRun: number }[];
  };
  expect(jobs).toHaveLength(1);
  expect(backends.map(({ environment, canRun }) => [environment, canRun])).toEqual([
    ["local", 1],
    ["docker", 1],
  ]);
});

test("doctor with a task folder says how many of its tasks run where, and creates nothing", async () => {
  const { root, tasks, run } = await twoTasks();
  const { out } = await run("doctor", tasks);
  expect(out).toMatch(/^✗ tasks on --env local: .*1 of 2 tasks.*gpu$/mu);
  expect(out).toMatch(
    /^✗ tasks on --env docker: not here \(see above\); .*1 of 2 tasks could run/mu,
  );
  expect((await run("doctor")).out).not.toContain("tasks on");
  expect(await readdir(root)).toEqual(["tasks"]);
});

test("an effort is part of the plan of an agent that has one, and refused for others", async () => {
  const { root, tasks, run } = await twoTasks();
  const flags = ["--reasoning-effort", "high", "--env", "local", "-o", join(root, "jobs")];
  const key = { OPENAI_API_KEY: "sk-test", BENCHFLOW_STATE_DIR: join(root, "state") };
  const codex = ["-a", "codex", "-m", "openai/gpt-5", "--dry-run", "--json"];
  const { out } = await benchWith(key, root, "run", tasks, ...flags, ...codex);
  expect(JSON.parse(out)).toMatchObject({ scoreSettings: { reasoning_effort: "high" } });
  await expect(run("run", tasks, ...flags, "-a", "oracle", "--dry-run")).rejects.toThrow(
    "agent oracle has no reasoning effort to set",
  );
});

test("a dry run of an agent with a model says its caps, its pot, the price and what a trial may cost", async () => {
  const { root, tasks } = await twoTasks();
  const env = { OPENAI_API_KEY: "sk-test", BENCHFLOW_STATE_DIR: join(root, "state") };
  const flags = ["--env", "local", "-o", join(root, "jobs"), "--dry-run", "-a", "codex"];
  const priced = ["-m", "openai/gpt-5", "--max-cost-usd", "20", "--max-cost-per-trial", "0.5"];
  const { out } = await benchWith(env, root, "run", tasks, ...flags, ...priced);
  expect(out).toMatch(/^Caps: \$20\.00 for the command; \$0\.50 a trial$/mu);
  expect(out).toMatch(/^Pot: a new one, nothing spent$/mu);
  expect(out).toMatch(
    /^Price of openai\/gpt-5: \$1\.25 in, \$10 out per million tokens \(genai-prices@/mu,
  );
  expect(out).toMatch(
    /^One trial: starts with \$\d+\.\d+; at most \$0\.50 \(--max-cost-per-trial\)$/mu,
  );
  const unknown = ["-m", "openai/no-such-model", "--json"];
  const json = await benchWith(env, root, "run", tasks, ...flags, ...unknown);
  expect(JSON.parse(json.out)).toMatchObject({
    money: {
      caps: { max_cost_usd: null, max_cost_per_trial_usd: null },
      pot: null,
      prices: [{ model: "openai/no-such-model", source: null, usd_per_million: null }],
      trial: { starts_with: { cost_usd: null }, at_most: { cost_usd: null }, limited_by: null },
    },
  });
  expect(await readdir(root)).toEqual(["tasks"]);
});
