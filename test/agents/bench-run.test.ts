import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { stateDir } from "../../api/state-dir.ts";
import { TrajectoryEvent } from "../../core/model/trajectory.ts";
import { PROVIDER_KEY, readModelJob } from "../e2e/model-run.ts";
import { runBench, scratchDir } from "../e2e/run-bench.ts";
import type { ModelScriptInput } from "../fakes/model-server/model-script.ts";
import { type ModelServer, startModelServer } from "../fakes/model-server/start-model-server.ts";
import { dockerHost } from "../setup/docker-host.ts";

const EXAMPLE = join(import.meta.dirname, "../../examples/tasks/hello-file");
const SCRIPTED = join(import.meta.dirname, "../fixtures/acp-agent/agent.mjs");
const SOLUTION: Partial<ModelScriptInput> = {
  turns: [{ shell: "echo 'Hello, world!' > /app/hello.txt" }, { text: "It is written." }],
};
const MODELS = [
  { agent: "claude", model: "xiaomi/mimo-v2.6-flash", calls: 3 },
  { agent: "codex", model: "openai/gpt-5.5", calls: 2 },
  { agent: "opencode", model: "xiaomi/mimo-v2.6-flash", calls: 2 },
] as const;

const servers: ModelServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A person's environment in which the providers are the fake. */
async function aProvider(script: Partial<ModelScriptInput>) {
  const server = await startModelServer({ turns: [{ text: "done" }], ...script });
  servers.push(server);
  const env = {
    XIAOMI_API_KEY: PROVIDER_KEY,
    XIAOMI_BASE_URL: `${server.origin}/v1`,
    OPENAI_API_KEY: PROVIDER_KEY,
    OPENAI_BASE_URL: `${server.origin}/v1`,
    BENCHFLOW_STATE_DIR: stateDir(process.env),
  };
  return { server, env };
}

async function copyExample(dir: string): Promise<void> {
  await cp(EXAMPLE, join(dir, "tasks/hello-file"), { recursive: true });
}

test.for(
  MODELS.flatMap((each) => [
    { ...each, env: "local" },
    { ...each, env: "docker" },
  ]),
)(
  "bench run -a $agent --env $env solves an example",
  async ({ agent, model, calls, env: kind }) => {
    await using scratch = await scratchDir();
    await copyExample(scratch.path);
    const { server, env } = await aProvider(SOLUTION);
    const args = ["run", "tasks", "-a", agent, "-m", model, "--env", kind];
    const docker = kind === "docker" ? { DOCKER_HOST: dockerHost() } : {};
    const run = await runBench(args, { cwd: scratch.path, env: { ...env, ...docker } });
    expect(run.code, run.stderr + run.stdout).toBe(0);
    const job = await readModelJob(join(scratch.path, "jobs"));
    expect(job.trials).toHaveLength(1);
    for (const { dir, result, rows } of job.trials) {
      expect(result.outcome).toMatchObject({ kind: "scored", reward: 1, passed: true });
      expect(result).toMatchObject({ n_tool_calls: 1, n_prompts: 1 });
      expect(result.model_calls).toMatchObject({ requests: calls, main_requests: 2, failed: 0 });
      expect(result.agent_result).toMatchObject({ n_output_tokens: calls * 40 });
      expect(rows).toHaveLength(calls);
      const text = await readFile(join(dir, "trajectory/acp_trajectory.jsonl"), "utf8");
      const events = text
        .split("\n")
        .filter(Boolean)
        .map((line) => TrajectoryEvent.parse(JSON.parse(line)));
      expect(events.map(({ type }) => type)).toEqual([
        "user_message",
        "tool_call",
        "agent_message",
      ]);
    }
    expect(server.modelRequests()).toHaveLength(calls);
  },
);

test("bench run -a claude works on an endpoint that has no Messages, by translation", async () => {
  await using scratch = await scratchDir();
  await copyExample(scratch.path);
  const { server, env } = await aProvider(SOLUTION);
  const none = { ...env, XIAOMI_ANTHROPIC_BASE_URL: "none" };
  const args = "run tasks -a claude -m xiaomi/mimo-v2.6-flash --env local".split(" ");
  const run = await runBench(args, { cwd: scratch.path, env: none });
  expect(run.code, run.stderr + run.stdout).toBe(0);
  const told = "the agent's anthropic-messages is translated into openai-completions";
  expect(run.stderr).toContain(told);
  const job = await readModelJob(join(scratch.path, "jobs"));
  expect(job.trials.map(({ result }) => result.outcome)).toMatchObject([{ reward: 1 }]);
  for (const { rows } of job.trials)
    for (const { protocol, translation } of rows)
      expect({ protocol, to: translation?.to }).toEqual({
        protocol: "anthropic-messages",
        to: "openai-completions",
      });
  for (const { protocol } of server.modelRequests()) expect(protocol).toBe("openai-completions");
});

test("bench run -a acp:COMMAND runs any program of the image that speaks the protocol", async () => {
  await using scratch = await scratchDir();
  await copyExample(scratch.path);
  const task = join(scratch.path, "tasks/hello-file");
  await cp(SCRIPTED, join(task, "environment/agent.mjs"));
  const dockerfile = "FROM debian:bookworm-slim\nCOPY agent.mjs /opt/agent.mjs\nWORKDIR /app\n";
  await writeFile(join(task, "environment/Dockerfile"), dockerfile);
  const check =
    "[ \"$(cat /app/answer.txt)\" = 'yes ' ] && r=1 || r=0; echo $r > /logs/verifier/reward.txt";
  await writeFile(join(task, "tests/test.sh"), `#!/bin/bash\n${check}\n`);
  const { env } = await aProvider({});
  const agent = 'acp:/opt/bench/node/bin/node /opt/agent.mjs \'{"turn":"work"}\'';
  const args = ["run", "tasks", "-a", agent, "-m", "xiaomi/mimo-v2.6-flash", "--env", "local"];
  const run = await runBench(args, { cwd: scratch.path, env });
  expect(run.code, run.stderr + run.stdout).toBe(0);
  const job = await readModelJob(join(scratch.path, "jobs"));
  expect(job.trials.map(({ result }) => result.outcome)).toMatchObject([{ reward: 1 }]);
  expect(job.trials[0]?.result).toMatchObject({ agent, agent_name: "scripted" });
});

// The first request is answered, and the file written; then the provider fails, and the agent says
// `end_turn` all the same. What the agent itself caused is graded, what the provider caused never is.
test.for([
  {
    what: "a key that is refused",
    fault: { kind: "status", status: 401, after: 1 },
    outcome: { kind: "unscored", category: "provider_auth", fault: "setup" },
  },
  {
    what: "an outage",
    fault: { kind: "status", status: 503, after: 1 },
    outcome: { kind: "unscored", fault: "infrastructure" },
  },
  {
    what: "a prompt longer than the model's context",
    fault: { kind: "context-overflow", after: 1 },
    outcome: { kind: "scored", reward: 1 },
  },
] as const)("codex before $what has the outcome of its cause", async ({ fault, outcome }) => {
  await using scratch = await scratchDir();
  await copyExample(scratch.path);
  const { env } = await aProvider({ ...SOLUTION, faults: [fault] });
  const args = "run tasks -a codex -m openai/gpt-5.5 --env local --retry-attempts 0".split(" ");
  const run = await runBench(args, { cwd: scratch.path, env });
  const job = await readModelJob(join(scratch.path, "jobs"));
  expect(job.trials, run.stderr).toHaveLength(1);
  for (const { result } of job.trials) expect(result.outcome, run.stdout).toMatchObject(outcome);
});
