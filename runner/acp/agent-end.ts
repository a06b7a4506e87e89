import { RequestError } from "@agentclientprotocol/sdk";
import { messageOf } from "../../core/errors.ts";
import type { ErrorCategory } from "../../core/model/outcome.ts";
import { agentIdleText, agentWallClockText } from "../../core/outcome/error-text.ts";
import type { AgentEnd } from "../../core/outcome/trial-evidence.ts";
import { SandboxError } from "../../core/ports/sandbox.ts";
import { acpErrorText, AgentFailure } from "./open-session.ts";
import type { TurnEnd } from "./run-turn.ts";

/** `auth_required` of the protocol's errors. */
const AUTH_REQUIRED = -32_000;

const OUT_OF_MEMORY = ": its sandbox ran out of memory";

export interface EndFacts {
  /** Of the agent's program, where it has ended by itself. */
  readonly exitCode: number | null;
  /** Whether the agent has said or done anything at all. */
  readonly hasActivity: boolean;
  readonly isPrompted: boolean;
  readonly oomKills: number | null;
  readonly wallSec: number;
  readonly idleSec: number;
}

/**
 * How an agent's work ended, from how its turn did (spec 2.3, 2.5). `end_turn` proves nothing: an agent
 * that has ended without a word, a thought or a tool call has done no work that could be scored.
 */
export function endOfTurn(turn: TurnEnd, facts: EndFacts): AgentEnd {
  switch (turn.kind) {
    case "limit":
      return limitEnd(turn, facts);
    // What the pot or the provider has to do with it is the models' to say.
    case "models-gone":
    case "stopped":
      return { kind: "limit", limit: "tokens", error: null };
    case "failed":
      return endOfFailure(turn.thrown, facts);
    case "answered":
      if (!facts.hasActivity)
        return errorEnd("agent_integration", "the agent ended its turn without any activity");
      return turn.stopReason === "max_turn_requests"
        ? { kind: "limit", limit: "turns", error: null }
        : { kind: "completed" };
  }
}

/** The same for what was thrown before or during the turn. Rethrows what is the sandbox's. */
export function endOfFailure(thrown: unknown, facts: EndFacts): AgentEnd {
  if (thrown instanceof SandboxError) throw thrown;
  if (thrown instanceof AgentFailure) return errorEnd(thrown.category, thrown.message);
  if (thrown instanceof RequestError) return endOfRefusal(thrown, facts);
  return endOfClosing(messageOf(thrown), facts);
}

/** Whether a failure is neither the agent's answer nor the sandbox's: its output has ended. */
export function isClosing(thrown: unknown): boolean {
  const isTyped =
    thrown instanceof SandboxError ||
    thrown instanceof AgentFailure ||
    thrown instanceof RequestError;
  return thrown !== null && !isTyped;
}

function endOfRefusal(refusal: RequestError, { hasActivity }: EndFacts): AgentEnd {
  const text = acpErrorText(refusal);
  if (refusal.code === AUTH_REQUIRED) return errorEnd("provider_auth", text);
  return errorEnd(hasActivity ? "acp_error" : "agent_integration", text);
}

/** Its output has ended although it was not done: it crashed, was killed for its memory, or gave up. */
function endOfClosing(message: string, facts: EndFacts): AgentEnd {
  const { exitCode, oomKills, hasActivity, isPrompted } = facts;
  const how = exitCode === null ? message : `exit code ${String(exitCode)}`;
  const isOutOfMemory = oomKills !== null && oomKills > 0;
  const text = `agent closed stdout (${how})${isOutOfMemory ? OUT_OF_MEMORY : ""}`;
  if (isOutOfMemory && hasActivity)
    return { kind: "limit", limit: "memory", error: { category: "pipe_closed", message: text } };
  // Before its first word nothing of it is the agent's work, so its exit is no verdict on it.
  const isItsOwn = isPrompted && hasActivity;
  return errorEnd("pipe_closed", text, isItsOwn ? exitCode : null);
}

function limitEnd(
  { limit, pending }: Extract<TurnEnd, { kind: "limit" }>,
  { wallSec, idleSec }: EndFacts,
): AgentEnd {
  const isWall = limit === "wall-clock";
  const error = {
    category: isWall ? ("timeout" as const) : ("idle_timeout" as const),
    message: isWall ? agentWallClockText(wallSec) : agentIdleText(idleSec, pending.length > 0),
  };
  return { kind: "limit", limit, error };
}

function errorEnd(
  category: ErrorCategory,
  message: string,
  exitCode: number | null = null,
): AgentEnd {
  return { kind: "error", error: { category, message }, exitCode };
}
