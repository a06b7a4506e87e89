import type { TurnTimes } from "../../core/acp/turn-limits.ts";
import type { Diagnostics } from "../../core/model/diagnostics.ts";
import type { AgentEnd } from "../../core/outcome/trial-evidence.ts";
import type { EndFacts } from "./agent-end.ts";
import type { SessionRecorder } from "./session-recorder.ts";

/** What only the agent's side knows of why a trial went wrong. */
export type AgentDiagnostics = Pick<Diagnostics, "idle_timeout_info" | "transport_error_info">;

export interface DiagnosisParts {
  readonly facts: EndFacts;
  readonly recorder: Pick<SessionRecorder, "toolCalls" | "messageChunks" | "thoughtChunks">;
  /** Of the turn when a limit ended it. */
  readonly times: TurnTimes | null;
  /** UTC; null when there was none. */
  readonly lastActivityAt: string | null;
}

/** The two objects of spec 1.6 that tell how an agent fell silent or went away; null where it did not. */
export function diagnoseEnd(end: AgentEnd, parts: DiagnosisParts): AgentDiagnostics {
  return { idle_timeout_info: idleInfo(end, parts), transport_error_info: closedInfo(end, parts) };
}

function idleInfo(
  end: AgentEnd,
  { facts, recorder, times, lastActivityAt }: DiagnosisParts,
): AgentDiagnostics["idle_timeout_info"] {
  if (end.kind !== "limit" || end.limit !== "idle" || times === null) return null;
  return {
    reason: "idle_timeout",
    idle_timeout_sec: facts.idleSec,
    idle_duration_sec: inTenths(times.idleMs),
    wall_clock_elapsed_sec: inTenths(times.elapsedMs),
    n_tool_calls: recorder.toolCalls,
    n_message_chunks: recorder.messageChunks,
    n_thought_chunks: recorder.thoughtChunks,
    last_activity_at: lastActivityAt,
  };
}

/** The sandbox was asked for its figures after the agent had gone, so it was reachable. */
function closedInfo(
  end: AgentEnd,
  { facts }: DiagnosisParts,
): AgentDiagnostics["transport_error_info"] {
  const error = end.kind === "error" || end.kind === "limit" ? end.error : null;
  if (error?.category !== "pipe_closed") return null;
  return {
    reason: "transport_closed",
    raw_message: error.message,
    process_exit_code: facts.exitCode,
    transport_diagnosis: diagnosisOf(facts),
    sandbox_reachable: true,
  };
}

function diagnosisOf({ exitCode, oomKills, isPrompted }: EndFacts): string {
  if (oomKills !== null && oomKills > 0) return "the sandbox ran out of memory";
  if (exitCode === null) return "the agent closed its output and went on running";
  const when = isPrompted ? "while it worked" : "before it was asked";
  return `the agent's program ended by itself ${when}`;
}

function inTenths(ms: number): number {
  return Math.round(ms / 100) / 10;
}
