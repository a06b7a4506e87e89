import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { stateDir } from "../../api/state-dir.ts";
import { readModelJob } from "../e2e/model-run.ts";
import { runBench, scratchDir, startBench } from "../e2e/run-bench.ts";
import { runWish, WRITE } from "./wish-scene.ts";

describe("what is said to an agent", () => {
  test.for([
    { agent: "claude", env: "local" },
    { agent: "codex", env: "docker" },
  ] as const)("is what the run wishes, in order, to $agent on $env", async ({ agent, env }) => {
    await using scratch = await scratchDir();
    const script = { turns: [WRITE, { text: "written" }, { text: "checked" }] };
    const words = ["Put the greeting down.", "Now look at it again."] as const;
    const extra = "Answer in few words.";
    const args = ["--prompt", words[0], "--prompt", words[1], "--extra-instruction", extra];
    const { run, trial, asked, read, config } = await runWish(scratch.path, {
      agent,
      env,
      script,
      args,
    });
    expect(run.code, run.stdout + run.stderr).toBe(0);
    const sent = [`${words[0]}\n\n${extra}`, words[1]];
    expect(JSON.parse(await read("prompts.json"))).toEqual(sent);
    expect(trial.result).toMatchObject({ n_prompts: 2, loop: { strategy: "single-shot" } });
    expect(config.scenes[0]?.turns).toHaveLength(2);
    const spoken = sent.map((text) => JSON.stringify(text).slice(1, -1));
    // The second one is a turn of the same session: the model is sent both.
    const turns = asked.filter((body) => body.includes(spoken[0] ?? "?"));
    expect(turns.filter((body) => body.includes(spoken[1] ?? "?"))).toHaveLength(1);
    expect(turns.length).toBeGreaterThanOrEqual(3);
  });

  const FACT = "BF-1042";
  const TASK_MD = `---
schema_version: "1.3"
agent: {timeout_sec: 300}
verifier: {timeout_sec: 60}
user:
  model: scripted
  stop_rule: satisfied-or-4-rounds
  private_facts:
    order_id: ${FACT}
    colour: viridian
benchflow:
  nudges: {mode: simulated-user, nudge_budget: 3}
---
Write the customer's order id to /app/order.txt. Ask the customer for it.
`;

  test.for([
    { agent: "claude", env: "local" },
    { agent: "codex", env: "local" },
    { agent: "codex", env: "docker" },
  ] as const)(
    "by a scripted user is a fact that $agent on $env asks for",
    async ({ agent, env }) => {
      await using scratch = await scratchDir();
      const script = {
        turns: [
          { text: "Which order id does the order have?" },
          {
            shell: `grep -rl ${FACT} /app /instruction.md /home 2>/dev/null | head -1 > /app/order.txt`,
          },
          { text: "Written." },
        ],
      };
      const { run, trial, asked, read } = await runWish(scratch.path, {
        agent,
        env,
        script,
        prepare: async (task) => {
          await writeFile(join(task, "task.md"), TASK_MD);
          for (const name of ["task.toml", "instruction.md"])
            await rm(join(task, name), { force: true });
          // What an agent writes of its own session is all that may hold the fact; it is not in the task.
          const check = "grep -qE '^/(app|instruction)' /app/order.txt && r=0 || r=1";
          await writeFile(
            join(task, "tests/test.sh"),
            `#!/bin/bash\n${check}\necho $r > /logs/verifier/reward.txt\n`,
          );
        },
      });
      expect(run.code, run.stdout + run.stderr).toBe(0);
      expect(trial.result.outcome).toMatchObject({ kind: "scored", reward: 1 });
      const prompts = z.array(z.string()).parse(JSON.parse(await read("prompts.json")));
      expect(prompts).toEqual([
        "Write the customer's order id to /app/order.txt. Ask the customer for it.",
        `You asked about the order id. It is: ${FACT}`,
      ]);
      expect(trial.result.loop).toEqual({
        strategy: "simulated-user",
        user: "scripted",
        rounds: 2,
        max_rounds: 3,
        told_facts: ["order_id"],
      });
      const rounds = (await read("user_rounds.jsonl")).trimEnd().split("\n");
      expect(rounds.map((line) => JSON.parse(line))).toMatchObject([
        { round: 0, n_tool_calls: 0, told_fact: null, rewards: null },
        { round: 1, n_tool_calls: 1, told_fact: "order_id", prompt: prompts[1] },
      ]);
      const said = (await read("trajectory/acp_trajectory.jsonl")).trimEnd().split("\n");
      expect(said.map((line) => JSON.parse(line).type)).toEqual([
        "user_message",
        "agent_message",
        "user_message",
        "tool_call",
        "agent_message",
      ]);
      const first = asked.findIndex((body) => body.includes(FACT));
      expect(first).toBeGreaterThan(0);
      expect(asked.some((body) => body.includes("viridian"))).toBe(false);
      // One session: the model is sent the answer behind the question.
      expect(asked.some((body) => body.includes(FACT) && body.includes("Which order id"))).toBe(
        true,
      );
    },
  );

  test.for(["claude", "codex"] as const)(
    "in a task's scenes begins each scene anew for %s",
    async (agent) => {
      await using scratch = await scratchDir();
      const script = { turns: [WRITE, { text: "done" }] };
      const scenes = `---
agents: {roles: {writer: {agent: codex-acp}}}
scenes:
  - {name: draft, turns: [{role: writer, prompt: Write a draft.}]}
  - {name: final, turns: [{role: writer}]}
benchflow: {prompt: {composition: append}}
---
## prompt

Greet the harbour.

## scene:final

Make it final.
`;
      const { run, trial, asked, read, config } = await runWish(scratch.path, {
        agent,
        script,
        prepare: async (task) => {
          await writeFile(join(task, "task.md"), scenes);
          for (const name of ["task.toml", "instruction.md"])
            await rm(join(task, name), { force: true });
        },
      });
      expect(run.code, run.stdout + run.stderr).toBe(0);
      expect(trial.result.outcome).toMatchObject({ kind: "scored", reward: 1 });
      expect(JSON.parse(await read("prompts.json"))).toEqual([
        "Greet the harbour.\n\nWrite a draft.",
        "Greet the harbour.\n\nMake it final.",
      ]);
      expect(config.scenes.map(({ name }) => name)).toEqual(["draft", "final"]);
      const both = asked.filter((body) => body.includes("a draft.") && body.includes("it final."));
      expect(both).toEqual([]);
    },
  );
});

test("a conversation that was killed begins anew, and what was said before it is kept", async () => {
  await using scratch = await scratchDir();
  const task = join(scratch.path, "tasks/talk");
  await mkdir(join(task, "environment"), { recursive: true });
  await mkdir(join(task, "verifier"), { recursive: true });
  await cp(SCRIPTED, join(task, "environment/agent.mjs"));
  const dockerfile = "FROM debian:bookworm-slim\nCOPY agent.mjs /opt/agent.mjs\nWORKDIR /app\n";
  await writeFile(join(task, "environment/Dockerfile"), dockerfile);
  const user = "user: {private_facts: {order_id: BF-1042}}";
  await writeFile(join(task, "task.md"), `---\n${user}\n---\nAsk for the order id.\n`);
  const check =
    "[ \"$(cat /app/answer.txt)\" = 'yes ' ] && r=1 || r=0; echo $r > /logs/verifier/reward.txt";
  await writeFile(join(task, "verifier/test.sh"), `#!/bin/bash\n${check}\n`);
  const script = { version: 1, turns: [{ text: "not asked" }] };
  await writeFile(join(scratch.path, "turns.json"), JSON.stringify(script));
  const way = JSON.stringify({ turn: "asks", delayMs: 4000 });
  const agent = `acp:/opt/bench/node/bin/node /opt/agent.mjs '${way}'`;
  const args = ["run", "tasks", "-a", agent, "-m", "scripted/turns.json", "--env", "local"];
  const options = { cwd: scratch.path, env: { BENCHFLOW_STATE_DIR: stateDir(process.env) } };
  const killed = startBench(args, options);
  const first = await eventually(async () => await readRounds(join(scratch.path, "jobs")));
  killed.kill("SIGKILL");
  await killed.ended;
  const again = await runBench(args, options);
  expect(again.code, again.stdout + again.stderr).toBe(0);
  const job = await readModelJob(join(scratch.path, "jobs"));
  expect(job.trials.map(({ result }) => result)).toMatchObject([
    { attempt: 2, outcome: { reward: 1 }, n_prompts: 2, loop: { rounds: 2, max_rounds: 5 } },
  ]);
  const rounds = await readRounds(join(scratch.path, "jobs"));
  expect(first.map(({ told_fact: told }) => told)).toEqual([null]);
  const told = rounds.map((row) => String(row.told_fact)).toSorted();
  expect(told).toEqual(["null", "null", "order_id"]);
});

const SCRIPTED = join(import.meta.dirname, "../fixtures/acp-agent/agent.mjs");
const Row = z.looseObject({ round: z.int(), told_fact: z.string().nullable() });

/** Rounds of all attempts below a jobs folder. */
async function readRounds(jobs: string): Promise<z.infer<typeof Row>[]> {
  const found = await readdir(jobs, { recursive: true }).catch(() => []);
  const paths = found.filter((path) => path.endsWith("user_rounds.jsonl"));
  const texts = await Promise.all(
    paths.map(async (path) => await readFile(join(jobs, path), "utf8")),
  );
  const lines = texts.flatMap((text) => text.split("\n").filter(Boolean));
  return lines.map((line) => Row.parse(JSON.parse(line)));
}

async function eventually<Item>(read: () => Promise<Item[]>): Promise<Item[]> {
  const endMs = Date.now() + 60_000;
  for (;;) {
    const items = await read();
    if (items.length > 0) return items;
    if (Date.now() > endMs) throw new Error("nothing came within 60 s");
    await delay(50);
  }
}
