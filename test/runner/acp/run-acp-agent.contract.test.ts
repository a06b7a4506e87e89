import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../../core/ports/sandbox.ts";
import { type OpenLocal, openLocal, run } from "../../sandboxes/local/open-local.ts";
import { AGENT_UID, runScripted, TOKEN } from "./acp-scene.ts";

let local: OpenLocal;
let sandbox: Sandbox;

beforeAll(async () => {
  local = await openLocal();
  sandbox = await local.create();
});

afterAll(async () => {
  await local.close();
});

/** Processes of the agent's user, counted without ending any. */
async function agentProcesses(): Promise<string> {
  const { out } = await run(
    sandbox,
    `for each in /proc/[0-9]*; do [ "$(stat -c %u $each 2>/dev/null)" = ${String(AGENT_UID)} ] && tr '\\0' ' ' <$each/cmdline; done; true`,
  );
  return out;
}

describe("an agent in a local sandbox", () => {
  test("works on its task, is let to, and what it did is on record", async () => {
    const { report, events } = await runScripted(sandbox, { way: {} });
    expect(report).toMatchObject({
      agentName: "scripted",
      end: { kind: "completed" },
      toolCalls: 1,
      prompts: ["Write the answer."],
    });
    expect(events).toMatchObject([
      { type: "user_message", text: "Write the answer." },
      { type: "agent_thought", text: "Let me see." },
      { type: "agent_message", text: "I will write it." },
      {
        type: "tool_call",
        title: "echo yes",
        status: "completed",
        raw_input: { command: "echo" },
        content: [{ type: "content" }],
      },
      { type: "agent_message", text: "Done." },
    ]);
    for (const event of events) expect(event["at_utc"]).toMatch(/^\d{4}-.*Z$/u);
    expect((await run(sandbox, "cat /work/answer.txt; stat -c %u /work/answer.txt")).out).toBe(
      `yes hello\n${String(AGENT_UID)}`,
    );
    expect(await agentProcesses()).toBe("");
  });

  test("gets its folder, its servers and its meta, and says which effort it runs", async () => {
    const session = {
      mcpServers: [{ name: "s", command: "c", args: [], env: [] }],
      meta: { claudeCode: { options: { maxTurns: 3 } } },
      calls: [{ method: "session/set_title", params: { title: "t" } }],
      effort: "high",
      effortOption: "effort",
      confirm: { model: "model", effort: "effort" },
    };
    const { report, log } = await runScripted(sandbox, { way: { echo: true }, session });
    expect(report.end).toEqual({ kind: "completed" });
    expect(log).toContain(
      'session/new {"cwd":"/work","mcpServers":[{"name":"s","command":"c","args":[],"env":[]}],"_meta":{"claudeCode":{"options":{"maxTurns":3}}}}',
    );
  });
});

describe("an agent that is not the one that was asked for does not begin", () => {
  test.for([
    ["another model", { model: "model-2" }, 'scripted\'s model is "model-2", not "model-1"'],
    ["another effort", { effort: "low" }, 'scripted\'s effort is "low", not "high"'],
    ["a refusal", { start: "refuse" }, "ACP error -32603: no such thing"],
  ] as const)("%s", async ([, way, message]) => {
    const session = {
      effort: "high",
      effortOption: "effort",
      confirm: { model: "model", effort: "effort" },
    };
    const { report, events } = await runScripted(sandbox, { way, session });
    expect(report.end).toMatchObject({ kind: "error", error: { category: "agent_integration" } });
    expect(JSON.stringify(report.end)).toContain(JSON.stringify(message).slice(1, -1));
    expect(report.prompts).toEqual([]);
    expect(events).toEqual([]);
  });

  test("one that would leave out a server of the task", async () => {
    const server = { type: "http", name: "tide", url: "http://127.0.0.1:1/mcp", headers: [] };
    const session = { mcpServers: [server] };
    const { report } = await runScripted(sandbox, { way: {}, session });
    expect(report.end).toMatchObject({
      kind: "error",
      error: {
        category: "agent_integration",
        message: "scripted takes no MCP servers over http, and the task has one",
      },
    });
    const heard = await runScripted(sandbox, { way: { mcp: ["http"] }, session });
    expect(heard.report.end).toEqual({ kind: "completed" });
  });

  test("one that says nothing at first is a failure of its surroundings, and is ended", async () => {
    const times = { stepMs: 700, cancelGraceMs: 200, inputEndMs: 200 };
    const { report } = await runScripted(sandbox, { way: { start: "silent" }, launch: { times } });
    expect(report.end).toMatchObject({
      kind: "error",
      error: {
        category: "infra_failure",
        message: "scripted did not answer initialize within 0.7 s",
      },
    });
    expect(await agentProcesses()).toBe("");
  });

  test("one that exits at once is no verdict on the agent's work", async () => {
    const { report } = await runScripted(sandbox, { way: { start: "exit" } });
    expect(report.end).toEqual({
      kind: "error",
      error: { category: "pipe_closed", message: "agent closed stdout (exit code 7)" },
      exitCode: null,
    });
  });
});

describe("a turn that goes wrong has its type from where it did", () => {
  test.for([
    ["silent", "agent_integration", "the agent ended its turn without any activity"],
    ["unauthorized", "provider_auth", "ACP error -32000: log in"],
    ["exit", "pipe_closed", "agent closed stdout (exit code 3)"],
  ] as const)("%s", async ([turn, category, message]) => {
    const { report } = await runScripted(sandbox, { way: { turn } });
    expect(report.end).toMatchObject({ kind: "error", error: { category, message } });
  });

  test("an agent's own error is told without the trial's token", async () => {
    const { report } = await runScripted(sandbox, { way: { turn: "error", token: TOKEN } });
    expect(report.end).toMatchObject({ kind: "error", error: { category: "acp_error" } });
    expect(JSON.stringify(report)).toContain("it broke");
    expect(JSON.stringify(report)).not.toContain(TOKEN);
  });

  test("an agent that ran out of its turns has reached a limit", async () => {
    const { report } = await runScripted(sandbox, { way: { turn: "turns" } });
    expect(report.end).toEqual({ kind: "limit", limit: "turns", error: null });
  });
});

describe("an agent that does not end is ended, with all that it started", () => {
  test("at its wall clock, whatever it says meanwhile", async () => {
    const way = { turn: "hang", chatty: true, deaf: true };
    const { report, events, log } = await runScripted(sandbox, { way, wallSec: 1.5 });
    expect(report.end).toMatchObject({
      kind: "limit",
      limit: "wall-clock",
      error: { category: "timeout", message: "Agent prompt exceeded wall-clock budget 1.5s" },
    });
    expect(log).toContain("cancelled\ninput ended");
    expect(events.find(({ type }) => type === "tool_call")).toMatchObject({ status: "cancelled" });
    expect(events.at(-1)).toMatchObject({
      type: "agent_timeout",
      timeout_sec: 1.5,
      pending_tool_call_ids: ["t1"],
      terminal_trajectory_complete: false,
    });
    expect(await agentProcesses()).toBe("");
  });

  test("when it is idle, which a running tool is not for three times as long", async () => {
    const started = Date.now();
    const { report } = await runScripted(sandbox, { way: { turn: "idle" }, idleSec: 0.5 });
    expect(report.end).toMatchObject({ limit: "idle", error: { category: "idle_timeout" } });
    const { idle_timeout_info: info } = report.diagnostics ?? {};
    expect(info).toMatchObject({ idle_timeout_sec: 0.5, n_tool_calls: 0 });
    expect(info?.idle_duration_sec).toBeGreaterThanOrEqual(0.5);
    expect(info?.wall_clock_elapsed_sec).toBeGreaterThanOrEqual(info?.idle_duration_sec ?? 9);
    expect(Date.now() - started).toBeLessThan(6000);
    const withTool = await runScripted(sandbox, {
      way: { turn: "hang", honoursCancel: true },
      idleSec: 0.5,
    });
    expect(withTool.report.end).toMatchObject({ limit: "idle" });
    expect(await agentProcesses()).toBe("");
  });

  test("when its models serve no more, which are stopped before it is told", async () => {
    const stops: string[] = [];
    const from = Date.now();
    const models = {
      stopped: () => (Date.now() - from > 700 ? { message: "the pot is empty" } : null),
      stop: (message: string) => void stops.push(message),
    };
    const { report, log } = await runScripted(sandbox, { way: { turn: "idle" }, models });
    expect(report.end).toEqual({ kind: "limit", limit: "tokens", error: null });
    expect(stops).toEqual(["the agent is being stopped"]);
    expect(log).toContain("cancelled");
  });

  test("when the trial is stopped, and that is thrown", async () => {
    const stop = new AbortController();
    const running = runScripted(sandbox, {
      way: { turn: "hang", deaf: true },
      signal: stop.signal,
    });
    running.catch(() => undefined);
    await expect.poll(agentProcesses, { timeout: 10_000 }).toContain("sleep");
    stop.abort(new Error("stopped by the person"));
    await expect(running).rejects.toThrow("stopped by the person");
    expect(await agentProcesses()).toBe("");
  });

  test("time for which its requests were held is not its own", async () => {
    const from = Date.now();
    const models = { heldMs: () => Math.min(Date.now() - from, 2500) };
    const { report } = await runScripted(sandbox, { way: { turn: "idle" }, models, idleSec: 0.5 });
    expect(report.end).toMatchObject({ limit: "idle" });
    expect(Date.now() - from).toBeGreaterThan(2500);
  });
});

test("an agent that floods its reader is bounded, answered, and heard all the same", async () => {
  const before = process.memoryUsage().rss;
  const { report, events, log } = await runScripted(sandbox, { way: { turn: "flood" } });
  expect(report.end).toEqual({ kind: "completed" });
  expect(events).toMatchObject([
    { type: "user_message" },
    { type: "agent_message", text: "still here, 600 refusals" },
  ]);
  expect(log).toContain(`[a line of ${String(100 * 1024 * 1024)} bytes was dropped]`);
  expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
});

test("neither the trial's token nor a provider's key or login reaches the record or the log, whoever says it", async () => {
  const later: string[] = [];
  const models = { hidden: { secrets: ["sk-said/back+1"], later } };
  later.push("renewed/later+1");
  const session = { meta: { token: TOKEN, key: "sk-said/back+1", login: "renewed/later+1" } };
  const { files } = await runScripted(sandbox, { way: { echo: true }, session, models });
  const paths = files.paths();
  expect(paths).toContain("agent/scripted.txt");
  const secrets = [TOKEN, "said/back", "renewed/later"];
  for (const path of paths)
    for (const secret of secrets) expect(files.text(path)).not.toContain(secret);
});
