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
