import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runBench, scratchDir } from "./run-bench.ts";

/** The least that is a task. */
async function writeTask(dir: string): Promise<void> {
  await mkdir(join(dir, "environment"), { recursive: true });
  await mkdir(join(dir, "tests"), { recursive: true });
  await mkdir(join(dir, "solution"), { recursive: true });
  await writeFile(join(dir, "task.toml"), 'version = "1.0"\n');
  await writeFile(join(dir, "instruction.md"), "Do it.\n");
  await writeFile(join(dir, "environment/Dockerfile"), "FROM debian:bookworm-slim\n");
  await writeFile(join(dir, "tests/test.sh"), "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n");
  await writeFile(join(dir, "solution/solve.sh"), "#!/bin/bash\ntrue\n");
}

const CASES: readonly {
  readonly what: string;
  readonly args: readonly string[];
  readonly says: RegExp;
}[] = [
  {
    what: "a flag that does not exist",
    args: ["tasks", "--nope"],
    says: /unknown option '--nope'/u,
  },
  {
    what: "-j 0",
    args: ["tasks", "-j", "0"],
    says: /-j takes a whole number of at least 1, not "0"/u,
  },
  { what: "-j with a word", args: ["tasks", "-j", "many"], says: /-j takes a whole number/u },
  {
    what: "--trials 0",
    args: ["tasks", "--trials", "0"],
    says: /--trials takes a whole number of at least 1/u,
  },
  { what: "-n 0", args: ["tasks", "-n", "0"], says: /-n takes a whole number of at least 1/u },
  {
    what: "--fail-under 2",
    args: ["tasks", "--fail-under", "2"],
    says: /a rate from 0 to 1, not "2"/u,
  },
  {
    what: "an unknown sandbox",
    args: ["tasks", "--env", "moon"],
    says: /one of local, docker, fargate, e2b/u,
  },
  {
    what: "a backend that is not built",
    args: ["tasks", "-a", "oracle", "--env", "e2b"],
    says: /e2b is not built yet/u,
  },
  {
    what: "a flag that is not built",
    args: ["tasks", "--max-cost-usd", "-5"],
    says: /--max-cost-usd -5: a cap is 0 \(spend nothing\) or more/u,
  },
  {
    what: "a cap that is no number",
    args: ["tasks", "--max-tokens", "1e9"],
    says: /--max-tokens takes a number such as 20 or 0\.5, not "1e9"/u,
  },
  {
    what: "a flag of later",
    args: ["tasks", "--integrity", "audit"],
    says: /--integrity is not built yet/u,
  },
  {
    what: "an agent without its model",
    args: ["tasks", "-a", "script-models", "--env", "local"],
    says: /agent script-models needs a model/u,
  },
  {
    what: "a model without its key",
    args: ["tasks", "-a", "script-models", "-m", "deepseek/x", "--env", "local"],
    says: /DEEPSEEK_API_KEY required for model deepseek\/x but not set/u,
  },
  {
    what: "a missing folder",
    args: ["nowhere", "-a", "oracle", "--env", "local"],
    says: /nowhere/u,
  },
  {
    what: "a folder without tasks",
    args: ["empty", "-a", "oracle", "--env", "local"],
    says: /empty/u,
  },
  { what: "no folder at all", args: ["-a", "oracle"], says: /no task folder given/u },
  {
    what: "an agent that does not exist",
    args: ["tasks", "-a", "claud", "--env", "local"],
    says: /no agent "claud"/u,
  },
  {
    what: "an include that matches nothing",
    args: ["tasks", "-a", "oracle", "--env", "local", "-i", "zzz"],
    says: /zzz/u,
  },
  {
    what: "--sample-seed without -n",
    args: ["tasks", "--sample-seed", "3"],
    says: /--sample-seed needs -n/u,
  },
  {
    what: "a jobs folder below a file",
    args: ["tasks", "-a", "oracle", "--env", "local", "-o", "file/jobs"],
    says: /file/u,
  },
  {
    what: "an unsafe job name",
    args: ["tasks", "-a", "oracle", "--env", "local", "--job-name", "../up"],
    says: /--job-name/u,
  },
  {
    what: "a GitHub address",
    args: ["https://github.com/a/b", "-a", "oracle"],
    says: /not built yet/u,
  },
];

test.each(CASES)("$what: two lines, exit 2, nothing created", async ({ args, says }) => {
  await using dir = await scratchDir();
  await writeTask(join(dir.path, "tasks/one"));
  await mkdir(join(dir.path, "empty"));
  await writeFile(join(dir.path, "file"), "");
  const before = (await readdir(dir.path)).toSorted();

  const run = await runBench(["run", ...args], {
    cwd: dir.path,
    stateDir: join(dir.path, ".state"),
  });

  expect(run.stderr).toMatch(says);
  const lines = run.stderr.trimEnd().split("\n");
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatch(/^ {2}next: /u);
  expect(run.stdout).toBe("");
  expect(run.code).toBe(2);
  expect((await readdir(dir.path)).filter((name) => name !== ".state").toSorted()).toEqual(before);
});

test("--trials with an address gives the mission page's two lines", async () => {
  await using dir = await scratchDir();
  const run = await runBench(["run", "https://github.com/a/b", "--trials", "2"], { cwd: dir.path });
  expect(run.stderr).toBe(
    "--trials > 1 needs a task folder or --dataset; a --config file or --source-env run repeats nothing\n" +
      "  next: `bench run --help` lists the flags\n",
  );
  expect(run.code).toBe(2);
});

test.skipIf(process.getuid?.() !== 0)(
  "a state folder that cannot be one is exit 4 with a next step, not a bug of ours",
  async () => {
    await using dir = await scratchDir();
    await writeTask(join(dir.path, "tasks/one"));
    await writeFile(join(dir.path, "file"), "");
    const run = await runBench(["run", "tasks", "-a", "nop", "--env", "local"], {
      cwd: dir.path,
      stateDir: join(dir.path, "file/state"),
    });
    expect(run.stderr).toMatch(/the state folder .* cannot be used/u);
    expect(run.stderr).toContain("  next: make room there, or set BENCHFLOW_STATE_DIR");
    expect(run.code).toBe(4);
  },
);
