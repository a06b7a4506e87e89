import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { stateDir } from "../../api/state-dir.ts";
import { TrialConfig } from "../../core/model/trial-config.ts";
import { PROVIDER_KEY, readModelJob } from "../e2e/model-run.ts";
import { runBench, scratchDir } from "../e2e/run-bench.ts";
import type { ModelScriptInput } from "../fakes/model-server/model-script.ts";
import { type ModelServer, startModelServer } from "../fakes/model-server/start-model-server.ts";
import { dockerHost } from "../setup/docker-host.ts";

const EXAMPLE = join(import.meta.dirname, "../../examples/tasks/hello-file");
const MODELS = {
  claude: "anthropic/claude-haiku-4-5",
  codex: "openai/gpt-5.5",
  opencode: "xiaomi/mimo-v2.6-flash",
  gemini: "gemini/gemini-2.5-flash",
  pi: "xiaomi/mimo-v2.6-flash",
  qwen: "xiaomi/mimo-v2.6-flash",
  copilot: "xiaomi/mimo-v2.6-flash",
} as const;
type AgentName = keyof typeof MODELS;
const AGENTS = ["claude", "codex", "opencode", "gemini", "pi", "qwen", "copilot"] as const;
const WRITE = { shell: "echo 'Hello, world!' > /app/hello.txt" };

const servers: ModelServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

interface Wish {
  readonly agent: AgentName;
  readonly env?: "local" | "docker";
  readonly script: Partial<ModelScriptInput>;
  readonly args?: readonly string[];
  /** Changes the task before it runs. */
  readonly prepare?: (task: string) => Promise<void>;
  readonly hostEnv?: Readonly<Record<string, string>>;
}

/** One real agent on one task, as a person runs it; the provider is the fake. */
async function runWish(dir: string, { agent, env: kind = "local", ...wish }: Wish) {
  const server = await startModelServer({ turns: [{ text: "done" }], ...wish.script });
  servers.push(server);
  const task = join(dir, "tasks/hello-file");
  await cp(EXAMPLE, task, { recursive: true });
  await wish.prepare?.(task);
  const base = { XIAOMI: "/v1", OPENAI: "/v1", ANTHROPIC: "", GEMINI: "" };
  const provider = Object.entries(base).flatMap(([name, path]) => [
    [`${name}_API_KEY`, PROVIDER_KEY],
    [`${name}_BASE_URL`, `${server.origin}${path}`],
  ]);
  const docker = kind === "docker" ? { DOCKER_HOST: dockerHost() } : {};
  const args = ["run", "tasks", "-a", agent, "-m", MODELS[agent], "--env", kind];
  const run = await runBench([...args, "--retry-attempts", "0", ...(wish.args ?? [])], {
    cwd: dir,
    env: {
      ...Object.fromEntries(provider),
      BENCHFLOW_STATE_DIR: stateDir(process.env),
      ...docker,
      ...wish.hostEnv,
    },
  });
  if (run.code === 2) throw new Error(run.stderr);
  const job = await readModelJob(join(dir, "jobs"));
  const [trial] = job.trials;
  if (trial === undefined) throw new Error(`no trial: ${run.stdout}${run.stderr}`);
  const read = async (path: string): Promise<string> =>
    await readFile(join(trial.dir, path), "utf8");
  const asked = server.modelRequests().map(({ body }) => JSON.stringify(body));
  const config = TrialConfig.parse(JSON.parse(await read("config.json")));
  return { run, trial, job, read, asked, config };
}

const LORE = "Knows how greetings are spelt in the harbour of Kiel";

async function addSkill(folder: string): Promise<void> {
  await mkdir(join(folder, "harbour-greetings"), { recursive: true });
  const text = `---\nname: harbour-greetings\ndescription: ${LORE}\n---\n\nSay moin.\n`;
  await writeFile(join(folder, "harbour-greetings/SKILL.md"), text);
}

describe("a task's skills", () => {
  test.for([
    ...AGENTS.map((agent) => ({ agent, env: "local" as const })),
    { agent: "codex" as const, env: "docker" as const },
  ])("are told to the model of $agent on $env", async ({ agent, env }) => {
    await using scratch = await scratchDir();
    const script = {
      turns: [
        {
          shell:
            "cat /skills/harbour-greetings/SKILL.md > /app/lore; touch /skills/mine; echo 'Hello, world!' > /app/hello.txt",
        },
        { text: "done" },
      ],
    };
    const { run, trial, asked, config } = await runWish(scratch.path, {
      agent,
      env,
      script,
      args: ["--skill-mode", "with-skill"],
      prepare: async (task) => {
        await addSkill(join(task, "environment/skills"));
        const check = `grep -q moin /app/lore && [ ! -e /skills/mine ] && r=1 || r=0`;
        await writeFile(
          join(task, "tests/test.sh"),
          `#!/bin/bash\n${check}\necho $r > /logs/verifier/reward.txt\n`,
        );
      },
    });
    expect(run.code, run.stdout + run.stderr).toBe(0);
    expect(trial.result.outcome).toMatchObject({ kind: "scored", reward: 1 });
    expect(asked.some((body) => body.includes(LORE))).toBe(true);
    const skills = { skill_mode: "with-skill", skill_source: "task_bundled" };
    const place = { skills_sandbox_dir: "/skills", effective_skills_dir: "environment/skills" };
    expect(trial.result).toMatchObject({ ...skills, ...place });
    expect(config).toMatchObject({ ...skills, ...place });
  });
});

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

describe("variables of the person's own", () => {
  const SECRET = "s3cr3t/of-the+person=0123456789";

  test.for([
    { agent: "claude", env: "local" },
    { agent: "codex", env: "docker" },
  ] as const)(
    "reach $agent on $env, and a secret one no file and no command line",
    async (where) => {
      await using scratch = await scratchDir();
      const script = {
        turns: [
          {
            shell: "echo \"$SEARCH_TOKEN $LANGUAGE_STYLE\"; echo 'Hello, world!' > /app/hello.txt",
          },
          { text: "done" },
        ],
      };
      const args = ["--agent-env", "SEARCH_TOKEN", "--agent-env", "LANGUAGE_STYLE=terse"];
      const { run, trial, read, config, asked } = await runWish(scratch.path, {
        ...where,
        script,
        args,
        hostEnv: { SEARCH_TOKEN: SECRET },
      });
      expect(run.code, run.stdout + run.stderr).toBe(0);
      expect(trial.result.outcome).toMatchObject({ kind: "scored", reward: 1 });
      // The tool printed it, so the agent had it; what is recorded of that has it no more.
      expect(asked.some((body) => body.includes(`${SECRET} terse`))).toBe(true);
      expect(await read("trajectory/acp_trajectory.jsonl")).toContain("terse");
      expect(config.agent_env).toEqual({ LANGUAGE_STYLE: "terse" });
      expect(config.scenes[0]?.roles[0]?.env_keys).toEqual(["LANGUAGE_STYLE", "SEARCH_TOKEN"]);
      const found = await filesWith(scratch.path, [SECRET, JSON.stringify(SECRET).slice(1, -1)]);
      expect(found).toEqual([]);
      expect(run.stdout + run.stderr).not.toContain(SECRET);
    },
  );
});

async function filesWith(dir: string, texts: readonly string[]): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const paths = entries.flatMap((each) =>
    each.isFile() ? [join(each.parentPath, each.name)] : [],
  );
  const found = await Promise.all(
    paths.map(async (path) => {
      const content = await readFile(path, "latin1");
      return texts.some((text) => content.includes(text)) ? [path] : [];
    }),
  );
  return found.flat();
}

describe("MCP servers of a task", () => {
  /** A server of one tool, without any library. */
  const SERVER = `
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    return send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "tide", version: "1" } } });
  if (method === "tools/list")
    return send({ id, result: { tools: [{ name: "tide_table", description: "Says when the tide turns", inputSchema: { type: "object", properties: {} } }] } });
  if (id !== undefined) send({ id, result: {} });
});
`;

  /** Puts a server's program into the task's image, and the server into its definition. */
  async function addServer(task: string, lines: string): Promise<void> {
    await writeFile(join(task, "environment/tide.cjs"), SERVER);
    const toml = await readFile(join(task, "task.toml"), "utf8");
    const server = `\n[[environment.mcp_servers]]\nname = "tide"\n${lines}\n`;
    await writeFile(join(task, "task.toml"), toml + server);
    const dockerfile = join(task, "environment/Dockerfile");
    const text = await readFile(dockerfile, "utf8");
    await writeFile(dockerfile, `${text}\nCOPY tide.cjs /opt/tide.cjs\n`);
  }
  const STDIO =
    'transport = "stdio"\ncommand = "/opt/bench/node/bin/node"\nargs = ["/opt/tide.cjs"]';

  test.for([
    { agent: "claude", env: "local", told: "mcp__tide__tide_table" },
    // Names the servers whose tools its model may search for.
    { agent: "codex", env: "local", told: "- tide\\n" },
    { agent: "codex", env: "docker", told: "- tide\\n" },
    { agent: "opencode", env: "local", told: "tide_tide_table" },
    { agent: "gemini", env: "local", told: "tide_table" },
  ] as const)(
    "over stdio offer their tools to the model of $agent on $env",
    async ({ agent, env, told }) => {
      await using scratch = await scratchDir();
      const { run, trial, asked } = await runWish(scratch.path, {
        agent,
        env,
        script: { turns: [WRITE, { text: "done" }] },
        prepare: async (task) => await addServer(task, STDIO),
      });
      expect(run.code, run.stdout + run.stderr).toBe(0);
      expect(trial.result.outcome).toMatchObject({ kind: "scored", reward: 1 });
      expect(asked.some((body) => body.includes(told))).toBe(true);
    },
  );

  test("over stdio are found by the model of qwen, which has to search for tools", async () => {
    await using scratch = await scratchDir();
    const search = { calls: [{ tool: "tool_search", args: { query: "tide" } }] };
    const { run, asked } = await runWish(scratch.path, {
      agent: "qwen",
      script: { turns: [search, WRITE, { text: "done" }] },
      prepare: async (task) => await addServer(task, STDIO),
    });
    expect(run.code, run.stdout + run.stderr).toBe(0);
    expect(asked.some((body) => body.includes("Says when the tide turns"))).toBe(true);
  });

  test.for(["pi", "copilot"] as const)(
    "are refused to %s, which would leave them out",
    async (agent) => {
      await using scratch = await scratchDir();
      const refused = runWish(scratch.path, {
        agent,
        script: {},
        prepare: async (task) => await addServer(task, STDIO),
      });
      await expect(refused).rejects.toThrow(
        /sandbox\.mcp_servers: agent \S+ offers its model none, and would work without them/u,
      );
    },
  );
});
