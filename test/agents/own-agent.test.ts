import { cp, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { stateDir } from "../../api/state-dir.ts";
import { readModelJob } from "../e2e/model-run.ts";
import { runBench, scratchDir } from "../e2e/run-bench.ts";

const EXAMPLE = join(import.meta.dirname, "../../examples/tasks/hello-file");
const PROGRAM = join(import.meta.dirname, "../fixtures/acp-agent/agent.mjs");

const AGENT = `name: mine
protocols: [openai-completions]
platforms: [linux/amd64, linux/arm64]
argv: ["{node}", /opt/agent.mjs, '{"turn":"work"}']
env: { MY_BASE: "{base}", MY_KEY: "{token}" }
`;

const Evaluation = z.looseObject({
  settings: z.looseObject({ agent: z.string(), agent_file: z.string() }),
});

test("bench run --agent-file runs the agent of the file, whose digest is in the run's record", async () => {
  await using scratch = await scratchDir();
  const task = join(scratch.path, "tasks/hello-file");
  await cp(EXAMPLE, task, { recursive: true });
  await cp(PROGRAM, join(task, "environment/agent.mjs"));
  const dockerfile = "FROM debian:bookworm-slim\nCOPY agent.mjs /opt/agent.mjs\nWORKDIR /app\n";
  await writeFile(join(task, "environment/Dockerfile"), dockerfile);
  const check =
    "[ \"$(cat /app/answer.txt)\" = 'yes ' ] && r=1 || r=0; echo $r > /logs/verifier/reward.txt";
  await writeFile(join(task, "tests/test.sh"), `#!/bin/bash\n${check}\n`);
  await writeFile(join(scratch.path, "mine.yaml"), AGENT);
  const script = { version: 1, turns: [{ text: "done" }] };
  await writeFile(join(scratch.path, "script.json"), JSON.stringify(script));
  const args = "run tasks --agent-file mine.yaml -m scripted/script.json --env local".split(" ");
  const env = { BENCHFLOW_STATE_DIR: stateDir(process.env) };
  const run = await runBench(args, { cwd: scratch.path, env });
  expect(run.code, run.stderr + run.stdout).toBe(0);
  const job = await readModelJob(join(scratch.path, "jobs"));
  expect(job.trials.map(({ result }) => result)).toMatchObject([
    { agent: "mine", agent_name: "scripted", outcome: { kind: "scored", reward: 1 } },
  ]);
  const text = await readFile(join(job.dir, "evaluation.json"), "utf8");
  const { settings } = Evaluation.parse(JSON.parse(text));
  expect(settings).toMatchObject({ agent: "mine" });
  expect(settings.agent_file).toMatch(/^sha256:[0-9a-f]{64}$/u);

  // The same command with another agent of that name is another job.
  await writeFile(join(scratch.path, "mine.yaml"), `${AGENT}ignoresEnd: true\n`);
  const again = await runBench(args, { cwd: scratch.path, env });
  expect(again.code, again.stderr + again.stdout).toBe(0);
  const jobs = await readdir(join(scratch.path, "jobs"));
  expect(jobs.filter((name) => /^\d{4}-/u.test(name))).toHaveLength(2);
});
