import { RequestError } from "@agentclientprotocol/sdk";
import { describe, expect, test } from "vitest";
import { decideOutcome } from "../../../core/outcome/decide-outcome.ts";
import { SandboxError } from "../../../core/ports/sandbox.ts";
import { endOfFailure, endOfTurn } from "../../../runner/acp/agent-end.ts";
import { FACTS } from "./end-facts.ts";

const closed = new Error("ACP connection closed");

describe("an agent whose output ended although it was not done", () => {
  test.for([
    ["by its own exit after it had worked", { exitCode: 3 }, "agent"],
    [
      "by its own exit before it had said a word",
      { exitCode: 3, hasActivity: false },
      "infrastructure",
    ],
    [
      "before it was asked",
      { exitCode: 1, hasActivity: false, isPrompted: false },
      "infrastructure",
    ],
    ["without an exit code", {}, "infrastructure"],
  ] as const)("%s", ([, over, fault]) => {
    const end = endOfFailure(closed, { ...FACTS, ...over });
    expect(end).toMatchObject({ kind: "error", error: { category: "pipe_closed" } });
    const outcome = decideOutcome({
      agent: end,
      verifier: { kind: "not-run" },
      stop: null,
      phase: "agent",
      workspaceSaved: false,
      verifierFailures: 0,
      verifierWorksOnNop: null,
    });
    expect(outcome).toMatchObject({ kind: "unscored", fault });
  });

  test("out of memory has reached a limit if it had worked, and says so if it had not", () => {
    const facts = { ...FACTS, exitCode: 137, oomKills: 1 };
    expect(endOfFailure(closed, facts)).toMatchObject({ kind: "limit", limit: "memory" });
    const before = endOfFailure(closed, { ...facts, hasActivity: false });
    expect(before).toMatchObject({
      kind: "error",
      error: { message: "agent closed stdout (exit code 137): its sandbox ran out of memory" },
    });
  });
});

test("an agent's error that is nested without end is told, its code first", () => {
  const depth = 100_000;
  const data: unknown = JSON.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);
  const end = endOfFailure(new RequestError(-32_603, "no", data), FACTS);
  expect(end).toMatchObject({ kind: "error", error: { category: "acp_error" } });
  const message = end.kind === "error" ? end.error.message : "";
  expect(message).toMatch(/^ACP error -32603: no \(\{"a":/u);
  expect(message.length).toBeLessThan(600);
});

test("a failure of the sandbox is thrown on, with its type", () => {
  const lost = new SandboxError("lost", "gone");
  expect(() => endOfFailure(lost, FACTS)).toThrow(lost);
});

test("an agent's error after work is the agent's, before any it is not integrated", () => {
  const error = new RequestError(-32_603, "broken");
  expect(endOfFailure(error, FACTS)).toMatchObject({ error: { category: "acp_error" } });
  expect(endOfFailure(error, { ...FACTS, hasActivity: false })).toMatchObject({
    error: { category: "agent_integration" },
  });
});

test.for([
  ["end_turn", { kind: "completed" }],
  ["max_tokens", { kind: "completed" }],
  ["refusal", { kind: "completed" }],
  ["max_turn_requests", { kind: "limit", limit: "turns" }],
] as const)("an answer of %s after work is %j", ([stopReason, end]) => {
  expect(endOfTurn({ kind: "answered", stopReason }, FACTS)).toMatchObject(end);
  expect(
    endOfTurn({ kind: "answered", stopReason }, { ...FACTS, hasActivity: false }),
  ).toMatchObject({
    kind: "error",
    error: { category: "agent_integration" },
  });
});

test("the texts of limits are the contract's", () => {
  expect(endOfTurn({ kind: "limit", limit: "wall-clock", pending: [] }, FACTS)).toMatchObject({
    error: { category: "timeout", message: "Agent prompt exceeded wall-clock budget 900s" },
  });
  expect(endOfTurn({ kind: "limit", limit: "idle", pending: [] }, FACTS)).toMatchObject({
    error: { category: "idle_timeout", message: expect.stringMatching(/^Agent idle for 60s/u) },
  });
});
