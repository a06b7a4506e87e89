import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratchDir } from "../e2e/run-bench.ts";
import { runWish, WRITE } from "./wish-scene.ts";

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

  /** The same over http: one answer for each request, no stream. */
  const LISTENER = `
require("node:http").createServer((request, response) => {
  let text = "";
  request.on("data", (chunk) => (text += chunk)).on("end", () => {
    if (request.method !== "POST") return response.writeHead(405).end();
    const { id, method, params } = JSON.parse(text);
    if (id === undefined) return response.writeHead(202).end();
    const results = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "tide", version: "1" } },
      "tools/list": { tools: [{ name: "tide_table", description: "Says when the tide turns", inputSchema: { type: "object", properties: {} } }] },
    };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} }));
  });
}).listen(8017, "127.0.0.1");
`;

  test("over http within the sandbox offer theirs to the model of claude, without any network", async () => {
    await using scratch = await scratchDir();
    const { run, trial, asked } = await runWish(scratch.path, {
      agent: "claude",
      script: { turns: [WRITE, { text: "done" }] },
      prepare: async (task) => {
        await addServer(task, 'transport = "http"\nurl = "http://127.0.0.1:8017/mcp"');
        await writeFile(join(task, "environment/tide.cjs"), LISTENER);
        const start = "setsid /opt/bench/node/bin/node /opt/tide.cjs >/dev/null 2>&1 </dev/null &";
        const toml = await readFile(join(task, "task.toml"), "utf8");
        const setup = `\n[[environment.setup_commands]]\ncommand = "${start}"\n`;
        await writeFile(join(task, "task.toml"), toml + setup);
      },
    });
    expect(run.code, run.stdout + run.stderr).toBe(0);
    expect(trial.result.outcome).toMatchObject({ kind: "scored", reward: 1 });
    expect(trial.result.isolation?.network_agent).toBe("closed");
    expect(asked.some((body) => body.includes("tide_table"))).toBe(true);
  });

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
