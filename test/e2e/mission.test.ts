import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BENCH, scratchDir } from "./run-bench.ts";

const FIXTURE = new URL("../fixtures/mission-run-block.txt", import.meta.url);

interface ScriptedTask {
  readonly name: string;
  readonly tools: number;
  readonly reward: 0 | 1;
  readonly agentSec: number;
}

/** The page's three tasks as its third repeat ended; the last one runs into its limit. */
const TASKS: readonly ScriptedTask[] = [
  { name: "econ-detrending-correlation", tools: 13, reward: 1, agentSec: 0 },
  { name: "offer-letter-generator", tools: 14, reward: 1, agentSec: 1.2 },
  { name: "crystallographic-wyckoff-position-analysis", tools: 47, reward: 0, agentSec: 60 },
];
const LIMIT_SEC = 3;

async function writeScripted(dir: string, task: ScriptedTask): Promise<void> {
  for (const folder of ["environment", "tests", "solution"])
    await mkdir(join(dir, folder), { recursive: true });
  await writeFile(
    join(dir, "task.toml"),
    `version = "1.0"\n[agent]\ntimeout_sec = ${String(LIMIT_SEC)}\n`,
  );
  await writeFile(join(dir, "instruction.md"), "Solve it.\n");
  await writeFile(join(dir, "environment/Dockerfile"), "FROM debian:bookworm-slim\nWORKDIR /app\n");
  await writeFile(join(dir, "solution/solve.sh"), "#!/bin/bash\ntrue\n");
  await writeFile(
    join(dir, "tests/test.sh"),
    `#!/bin/bash\necho ${String(task.reward)} >/logs/verifier/reward.txt\n`,
  );
  await writeFile(join(dir, "agent.sh"), `#!/bin/bash\nsleep ${String(task.agentSec)}\n`);
  const calls = Array.from({ length: task.tools }, (_, index) => ({
    type: "tool_call",
    tool_call_id: `call-${String(index)}`,
    kind: "execute",
    title: "Shell",
    status: "completed",
    content: [],
  }));
  const usage = { type: "usage", input_tokens: 560_000, output_tokens: 8120 };
  await writeFile(
    join(dir, "agent-events.jsonl"),
    [...calls, usage].map((event) => JSON.stringify(event)).join("\n"),
  );
}

/** stdout and stderr through one pipe, in the order in which a terminal shows them. */
async function runMerged(args: readonly string[], cwd: string): Promise<string> {
  const child = spawn("/bin/sh", ["-c", '"$@" 2>&1', "sh", process.execPath, BENCH, ...args], {
    cwd,
    env: { ...process.env, BENCHFLOW_STATE_DIR: join(cwd, "state") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  await once(child, "close");
  return output;
}

/** Times, ids, token counts and the agent's name are the only things that may differ. */
function neutral(text: string): string {
  return text
    .replaceAll(/\d{4}-\d{2}-\d{2}__\d{2}-\d{2}-\d{2}/gu, "<job>")
    .replaceAll(/time=[\d.]+min/gu, "time=<t>min")
    .replaceAll(/^(Time: +).*$/gmu, "$1<t>")
    .replaceAll(/budget \d+s/gu, "budget <t>s")
    .replaceAll(/[\d,]+ tokens$/gmu, "<n> tokens")
    .replaceAll(/(?<=\/)(?:claude-agent-acp|script)(?=\/)/gu, "<agent>");
}

test.skipIf(process.getuid?.() !== 0)(
  "the mission page's whole output block comes out character for character",
  async () => {
    await using dir = await scratchDir();
    for (const task of TASKS) await writeScripted(join(dir.path, "tasks", task.name), task);
    const output = await runMerged(
      "run tasks -a script --env local --trials 3 -j 3 --save-outputs --jobs-dir jobs/no-skills".split(
        " ",
      ),
      dir.path,
    );
    const page = neutral(await readFile(FIXTURE, "utf8"));
    const tail = neutral(output).split("\n").slice(-page.split("\n").length).join("\n");
    expect(tail).toBe(page);
  },
);

test.skipIf(process.getuid?.() !== 0)(
  "the page's example from code prints what it says",
  async () => {
    await using dir = await scratchDir();
    const task = { name: "half-life", tools: 0, reward: 1, agentSec: 0 } as const;
    await writeScripted(join(dir.path, "tasks/half-life"), task);
    const library = new URL("../../dist/api/index.js", import.meta.url).href;
    await writeFile(
      join(dir.path, "example.mjs"),
      `import { Evaluation, EvaluationConfig, loadJob } from ${JSON.stringify(library)};
     const evaluation = new Evaluation({ tasksDir: "tasks", jobsDir: "jobs/ts", env: { BENCHFLOW_STATE_DIR: "state" },
       config: new EvaluationConfig({ agent: "oracle", environment: "local", concurrency: 2 }) });
     const result = await evaluation.run();
     console.log(result.passed, result.total, result.score, result.jobDir);
     const loaded = await loadJob(result.jobDir);
     console.log(loaded.jobs[0].trials[0].record.outcome.kind);`,
    );
    const child = spawn(process.execPath, ["example.mjs"], {
      cwd: dir.path,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
    await once(child, "close");
    expect(neutral(output)).toBe("1 1 1 jobs/ts/<job>\nscored\n");
  },
);
