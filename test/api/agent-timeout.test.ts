import { expect, test } from "vitest";
import { type Agent, NO_USAGE } from "../../runner/agents/agent.ts";
import { nop } from "../../runner/agents/nop.ts";
import { aScene, startTrials } from "./run-scene.ts";

test("an agent that its clock ended leaves what it was doing in result.json", async () => {
  const scene = await aScene({ plays: { task: {} } });
  const agent: Agent = {
    ...nop,
    run: async ({ trajectory, spec }) => {
      await trajectory.record({
        type: "agent_timeout",
        reason: "wall_clock_timeout",
        timeout_sec: spec.agentTimeoutSec,
        pending_tool_call_ids: ["t1"],
        terminal_trajectory_complete: false,
      });
      const end = { kind: "limit", limit: "wall-clock", error: null } as const;
      const counts = { toolCalls: 4, skillInvocations: 0, prompts: [] };
      return { agentName: "slow", end, ...counts, usage: NO_USAGE };
    },
  };
  const { ended, folder } = await startTrials(scene, {}, agent);
  await ended;
  const results: unknown[] = [];
  for await (const { result } of folder.attempts()) results.push(JSON.parse(result ?? "null"));
  expect(results).toMatchObject([
    {
      agent_timeout_info: {
        n_tool_calls: 4,
        pending_tool_call_ids: ["t1"],
        terminal_event_recorded: true,
        terminal_trajectory_complete: false,
      },
    },
  ]);
});

test.each([
  ["idle_timeout", { kind: "limit", limit: "idle" }, ["idle_timeout_info"]],
  ["pipe_closed", { kind: "error", exitCode: 3 }, ["transport_error_info"]],
  ["acp_error", { kind: "error", exitCode: null }, []],
] as const)("an agent's end of %s leaves its own diagnosis in result.json", async (...row) => {
  const [category, end, told] = row;
  const scene = await aScene({ plays: { task: {} } });
  const diagnostics = {
    idle_timeout_info: {
      reason: "idle_timeout",
      idle_timeout_sec: 1,
      idle_duration_sec: 1.2,
      wall_clock_elapsed_sec: 5,
      n_tool_calls: 0,
      n_message_chunks: 1,
      n_thought_chunks: 0,
      last_activity_at: null,
    },
    transport_error_info: {
      reason: "transport_closed",
      raw_message: "agent closed stdout",
      process_exit_code: 3,
      transport_diagnosis: "it ended",
    },
  } as const;
  const agent: Agent = {
    ...nop,
    run: async () => ({
      agentName: "ended",
      end: { ...end, error: { category, message: "why" } },
      toolCalls: 1,
      skillInvocations: 0,
      prompts: [],
      usage: NO_USAGE,
      diagnostics,
    }),
  };
  const { ended, folder } = await startTrials(scene, { retryAttempts: 0 }, agent);
  await ended;
  for await (const { result } of folder.attempts()) {
    const { idle_timeout_info: idle, transport_error_info: closed } = JSON.parse(result ?? "null");
    expect(idle).toEqual(told[0] === "idle_timeout_info" ? diagnostics.idle_timeout_info : null);
    expect(closed).toEqual(
      told[0] === "transport_error_info" ? diagnostics.transport_error_info : null,
    );
  }
  expect.assertions(2);
});
