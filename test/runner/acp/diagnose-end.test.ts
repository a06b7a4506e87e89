import { expect, test } from "vitest";
import { Diagnostics } from "../../../core/model/diagnostics.ts";
import type { AgentEnd } from "../../../core/outcome/trial-evidence.ts";
import { type EndFacts, endOfFailure } from "../../../runner/acp/agent-end.ts";
import { diagnoseEnd } from "../../../runner/acp/diagnose-end.ts";
import { FACTS } from "./end-facts.ts";

function diagnose(end: AgentEnd, over: Partial<EndFacts> = {}) {
  const infos = diagnoseEnd(end, {
    facts: { ...FACTS, ...over },
    recorder: { toolCalls: 2, messageChunks: 5, thoughtChunks: 3 },
    times: { idleMs: 60_049, elapsedMs: 75_251 },
    lastActivityAt: "2026-11-30T10:00:00.000Z",
  });
  return Diagnostics.partial().parse(infos);
}

test("silence is told with its length and what the agent had done before it", () => {
  const error = { category: "idle_timeout", message: "idle" } as const;
  expect(diagnose({ kind: "limit", limit: "idle", error })).toEqual({
    idle_timeout_info: {
      reason: "idle_timeout",
      idle_timeout_sec: 60,
      idle_duration_sec: 60,
      wall_clock_elapsed_sec: 75.3,
      n_tool_calls: 2,
      n_message_chunks: 5,
      n_thought_chunks: 3,
      last_activity_at: "2026-11-30T10:00:00.000Z",
    },
    transport_error_info: null,
  });
});

test.each([
  [{ exitCode: 3 }, 3, "the agent's program ended by itself while it worked"],
  [
    { exitCode: 7, hasActivity: false, isPrompted: false },
    7,
    "the agent's program ended by itself before it was asked",
  ],
  [{}, null, "the agent closed its output and went on running"],
  [{ exitCode: 137, oomKills: 1 }, 137, "the sandbox ran out of memory"],
] as const)("a closed output %o is told with its exit code and cause", (over, code, diagnosis) => {
  const end = endOfFailure(new Error("ACP connection closed"), { ...FACTS, ...over });
  expect(diagnose(end, over)).toEqual({
    idle_timeout_info: null,
    transport_error_info: {
      reason: "transport_closed",
      raw_message: expect.stringMatching(/^agent closed stdout/u),
      process_exit_code: code,
      transport_diagnosis: diagnosis,
      sandbox_reachable: true,
    },
  });
});

test("any other end tells neither", () => {
  const none = { idle_timeout_info: null, transport_error_info: null };
  expect(diagnose({ kind: "completed" })).toEqual(none);
  expect(diagnose({ kind: "limit", limit: "turns", error: null })).toEqual(none);
  const error = { category: "timeout", message: "late" } as const;
  expect(diagnose({ kind: "limit", limit: "wall-clock", error })).toEqual(none);
});
