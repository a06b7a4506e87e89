import { describe, expect, test } from "vitest";
import type { RunSettingsInput } from "../../../core/model/settings.ts";
import { McpServer, type TaskConfig } from "../../../core/model/task.ts";
import type { BenchError } from "../../../core/errors.ts";
import { planRun } from "../../../core/plan/plan-run.ts";
import type { PlanRequest } from "../../../core/plan/plan-run.ts";
import { ALL_CAPS, aRequest, aTask, refusalOf, someSettings, startedBy } from "./plan-builders.ts";

const closed = aTask("closed");
closed.config.sandbox.networkMode = "no-network";

const refused = (request: PlanRequest): BenchError => refusalOf(() => planRun(request));

function reasonFor(change: (config: TaskConfig) => void): string {
  const task = aTask("alpha");
  change(task.config);
  const caps = { ...ALL_CAPS, publicNetwork: false };
  return refused(aRequest({ tasks: [task], caps, settings: ofAgent })).message;
}

const ofAgent = someSettings({ agent: "script" });

describe("a task that cannot run there", () => {
  test("is skipped with what is lacking, and the others run", () => {
    const tasks = [
      aTask("alpha"),
      aTask("many", { compose: true }),
      aTask("refused", {
        refusals: [{ path: "task.toml:4:1", reason: "steps are not supported" }],
      }),
      aTask("x".repeat(250)),
      closed,
    ];
    const caps = { ...ALL_CAPS, noNetwork: "none" } as const;
    const plan = planRun(aRequest({ tasks, caps }));
    expect(startedBy(plan)).toEqual(["1/alpha"]);
    expect(plan.skipped.map(({ name, reason }) => [name.slice(0, 8), reason])).toEqual([
      ["closed", "--env local cannot cut the network"],
      ["many", "--env local runs no compose files"],
      ["refused", "task.toml:4:1: steps are not supported"],
      ["xxxxxxxx", "the name has 250 bytes; a trial's folder adds 10, so at most 245 fit"],
    ]);
  });

  test("is refused for the oracle where it has no solution, and for nobody else", () => {
    const unsolved = aTask("unsolved", { oracleDir: null });
    const tasks = [aTask("solved"), unsolved];
    const planned = (agent: string) =>
      planRun(aRequest({ tasks, settings: someSettings({ agent }) }));
    expect(planned("oracle").skipped).toEqual([
      {
        name: "unsolved",
        reason: "there is no solution/solve.sh or oracle/solve.sh, the oracle runs it",
      },
    ]);
    for (const agent of ["nop", "claude-agent-acp"]) expect(planned(agent).skipped).toEqual([]);
  });

  test("is refused for more processors than there are, where they cannot be given", () => {
    const task = aTask("wide");
    task.config.sandbox.cpus = 4;
    const plannedWith = (maxCpus: number | null) =>
      planRun(aRequest({ tasks: [aTask("alpha"), task], caps: { ...ALL_CAPS, maxCpus } })).skipped;
    expect(plannedWith(2)).toEqual([
      { name: "wide", reason: "--env local has 2 processors, and the task asks for 4" },
    ]);
    for (const enough of [4, 8, null]) expect(plannedWith(enough)).toEqual([]);
  });

  test("is refused for the phase alone where only the whole sandbox can be cut off", () => {
    const caps = { ...ALL_CAPS, noNetwork: "sandbox" } as const;
    expect(planRun(aRequest({ tasks: [closed], caps })).skipped).toEqual([]);
    const task = structuredClone(closed);
    task.config.verifier.networkMode = "public";
    expect(refused(aRequest({ tasks: [task], caps })).message).toContain(
      "--env local cannot cut the network for one phase alone",
    );
  });

  test("is refused for an allowlist, for GPUs, and for a public network that is not there", () => {
    expect(
      reasonFor((config) => {
        config.agent.networkMode = "allowlist";
      }),
    ).toContain("allowlist");
    expect(
      reasonFor((config) => {
        config.sandbox.gpus = 2;
      }),
    ).toContain("asks for 2");
    expect(
      reasonFor((config) => {
        config.agent.networkMode = "public";
      }),
    ).toContain("open internet");
  });

  test.each([
    ["https://mcp.example/sse", "public", true, []],
    [
      "https://mcp.example/sse",
      "no-network",
      true,
      [/^--env local gives its agent no network, and MCP server tide lies/u],
    ],
    ["https://127.0.0.1.example/mcp", null, false, [/MCP server tide lies outside/u]],
    ["http://user@mcp.example:80/", null, false, [/MCP server tide lies outside/u]],
    ["http://127.0.0.1:8080/mcp", "no-network", true, []],
    ["http://localhost/mcp", null, false, []],
    ["http://[::1]:9/mcp", null, false, []],
  ] as const)(
    "is refused to agents where its MCP server cannot be reached: %s under %s, open internet %s",
    (url, networkMode, publicNetwork, reasons) => {
      const task = aTask("talks");
      const server = { name: "tide", transport: "streamable-http" as const, url };
      task.config.sandbox.mcpServers = [McpServer.parse(server)];
      task.config.sandbox.networkMode = networkMode;
      const caps = { ...ALL_CAPS, publicNetwork };
      const skippedFor = (over: Partial<RunSettingsInput>) =>
        planRun(aRequest({ tasks: [aTask("a"), task], caps, settings: someSettings(over) }))
          .skipped;
      const skipped = skippedFor({ agent: "script" });
      expect(skipped).toHaveLength(reasons.length);
      for (const [index, reason] of reasons.entries())
        expect(skipped[index]?.reason).toMatch(reason);
      expect(skippedFor({ agent: "script", withoutInternet: true })).toEqual([]);
      expect(skippedFor({ agent: "oracle" })).toEqual([]);
    },
  );

  test("is refused to an agent that cannot be kept apart from the verifier, not to the controls", () => {
    const caps = { ...ALL_CAPS, uidSeparation: false };
    expect(planRun(aRequest({ caps })).skipped).toEqual([]);
    const settings = someSettings({ agent: "script" });
    expect(refused(aRequest({ settings, caps })).message).toContain("apart from the verifier");
  });

  test("stops the run when none is left, or with --strict-tasks when one is", () => {
    const skipped = [{ name: "gamma", reason: "task.toml:3:1: illegal escape" }];
    const alone = refused(aRequest({ tasks: [], skipped }));
    expect([alone.kind, alone.message]).toEqual([
      "config",
      "no task can run: gamma: task.toml:3:1: illegal escape",
    ]);
    const strict = refused(aRequest({ skipped, settings: someSettings({ strictTasks: true }) }));
    expect(strict.message).toContain("--strict-tasks");
    expect(refused(aRequest({ tasks: [] })).message).toBe("no tasks selected in tasks");
    expect(refused(aRequest({ tasks: [aTask("a"), aTask("a")] })).message).toBe(
      'two tasks are named "a"',
    );
  });

  test("is judged by its own refusals alone when the backend was not asked", () => {
    expect(planRun(aRequest({ caps: null, tasks: [closed] })).skipped).toEqual([]);
  });

  test("that asks for the open internet is refused where there is none, however it says so", () => {
    const caps = { ...ALL_CAPS, publicNetwork: false };
    for (const section of ["sandbox", "agent", "verifier"] as const) {
      const task = aTask("asks");
      task.config[section].networkMode = "public";
      const tasks = [task, aTask("silent"), closed];
      const plan = planRun(aRequest({ tasks, caps, settings: ofAgent }));
      expect(plan.skipped.map(({ name }) => name)).toEqual(["asks"]);
      expect(plan.skipped[0]?.reason).toBe(
        "--env local has no way to the open internet here, and the task asks for it (--without-internet runs it without)",
      );
      expect(plan.warnings).toEqual(["1 task runs without the open internet here"]);
    }
  });

  test("that asks for the open internet runs without it on the user's word, and is named", () => {
    const caps = { ...ALL_CAPS, publicNetwork: false };
    const settings = someSettings({ agent: "script", withoutInternet: true });
    const task = aTask("asks");
    task.config.sandbox.networkMode = "public";
    const tasks = [task, aTask("one"), aTask("two")];
    const plan = planRun(aRequest({ tasks, caps, settings }));
    expect(plan.skipped).toEqual([]);
    expect(plan.warnings).toEqual([
      "2 tasks run without the open internet here",
      "1 task runs without the open internet that it asks for: asks",
    ]);
    expect(planRun(aRequest({ tasks, settings })).warnings).toEqual([]);
  });

  test("that asks for the open internet runs without it for the controls, and is named", () => {
    const caps = { ...ALL_CAPS, publicNetwork: false };
    const task = aTask("asks");
    task.config.verifier.networkMode = "public";
    for (const agent of ["oracle", "nop"]) {
      const settings = someSettings({ agent });
      const plan = planRun(aRequest({ tasks: [task, closed], caps, settings }));
      expect(plan.skipped).toEqual([]);
      expect(plan.warnings).toEqual([
        "1 task runs without the open internet that it asks for: asks",
      ]);
    }
  });

  test("for want of someone to speak with runs for the controls, counted, and for nobody else", () => {
    const refusals = [
      { path: "user", reason: "no rounds", agentsOnly: true },
      { path: "scenes", reason: "no scenes", agentsOnly: true },
    ];
    const tasks = [aTask("alpha"), aTask("talks", { refusals })];
    for (const agent of ["oracle", "nop"]) {
      const plan = planRun(aRequest({ tasks, settings: someSettings({ agent }) }));
      expect(startedBy(plan)).toEqual(["1/alpha", "1/talks"]);
      expect(plan.warnings).toEqual([
        "1 task runs for the controls alone, other agents are refused it: talks (user, scenes)",
      ]);
    }
    for (const agent of ["script", "claude-agent-acp"]) {
      const plan = planRun(aRequest({ tasks, settings: someSettings({ agent }) }));
      expect(plan.skipped).toEqual([
        { name: "talks", reason: "user: no rounds; scenes: no scenes" },
      ]);
      expect(plan.warnings).toEqual([]);
    }
  });

  test("is not spared to the controls for a reason that is theirs too", () => {
    const refusals = [
      { path: "user", reason: "no rounds", agentsOnly: true },
      { path: "sandbox.gpus", reason: "no GPUs" },
    ];
    const plan = planRun(aRequest({ tasks: [aTask("alpha"), aTask("both", { refusals })] }));
    expect(plan.skipped).toEqual([{ name: "both", reason: "sandbox.gpus: no GPUs" }]);
    expect(plan.warnings).toEqual([]);
  });

  test("wants more processors than the sandboxes share: it runs, and is counted", () => {
    const [wide, wider] = [aTask("wide"), aTask("wider")];
    wide.config.sandbox.cpus = 4;
    wider.config.sandbox.cpus = 8;
    const warned = (processors: number | null) => {
      const caps = { ...ALL_CAPS, processors };
      const plan = planRun(aRequest({ tasks: [aTask("alpha"), wide, wider], caps }));
      expect(plan.skipped).toEqual([]);
      return plan.warnings;
    };
    expect(warned(2)).toEqual([
      "2 tasks ask for more processors than the 2 that --env local has: wide (4), wider (8)",
    ]);
    expect(warned(4)).toEqual([
      "1 task asks for more processors than the 4 that --env local has: wider (8)",
    ]);
    for (const enough of [8, null]) expect(warned(enough)).toEqual([]);
  });

  test("of a compose file is refused also where no backend was asked", () => {
    const tasks = [aTask("alpha"), aTask("many", { compose: true })];
    expect(planRun(aRequest({ tasks, caps: null })).skipped).toEqual([
      { name: "many", reason: "compose: no sandbox of this edition runs compose files" },
    ]);
  });

  test("limits that a backend cannot hold are said once", () => {
    const limits = { ...ALL_CAPS.limits, memory: false, disk: false };
    const { warnings } = planRun(aRequest({ caps: { ...ALL_CAPS, limits } }));
    expect(warnings).toEqual(["--env local cannot limit memory, disk here"]);
  });
});
