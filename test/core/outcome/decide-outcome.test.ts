import { expect, test } from "vitest";
import { ErrorCategory, type VerifierErrorCategory } from "../../../core/model/outcome.ts";
import { decideOutcome } from "../../../core/outcome/decide-outcome.ts";
import type {
  AgentEnd,
  TrialEvidence,
  TrialStop,
  VerifierEvidence,
} from "../../../core/outcome/trial-evidence.ts";

const GRADED: TrialEvidence = {
  agent: { kind: "completed" },
  verifier: { kind: "rewards", rewards: { reward: 1 } },
  stop: null,
  phase: null,
  workspaceSaved: false,
  verifierFailures: 0,
  verifierWorksOnNop: null,
};

function crashed(category: VerifierErrorCategory = "verifier_failure"): VerifierEvidence {
  return { kind: "error", error: { category, message: "verifier crashed: x" } };
}

function agentError(category: ErrorCategory, exitCode: number | null = null): AgentEnd {
  return { kind: "error", error: { category, message: "m" }, exitCode };
}

const TIMED_OUT: AgentEnd = {
  kind: "limit",
  limit: "wall-clock",
  error: { category: "timeout", message: "Agent prompt exceeded wall-clock budget 900s" },
};

test("passed is a reward of exactly 1, and a partial or larger reward is not", () => {
  for (const [reward, passed] of [
    [1, true],
    [0.999, false],
    [0, false],
    [1.5, false],
    [-1, false],
  ] as const)
    expect(
      decideOutcome({ ...GRADED, verifier: { kind: "rewards", rewards: { reward } } }),
    ).toEqual({
      kind: "scored",
      reward,
      passed,
      limit: null,
    });
});

test("a graded trial keeps its score and names the limit that ended the agent", () => {
  expect(decideOutcome({ ...GRADED, agent: TIMED_OUT })).toMatchObject({
    kind: "scored",
    passed: true,
    limit: "wall-clock",
  });
});

test("a valid reward is final whatever the agent's own error", () => {
  for (const category of ErrorCategory.options)
    expect(decideOutcome({ ...GRADED, agent: agentError(category) })).toMatchObject({
      kind: "scored",
      reward: 1,
    });
});

test("a sandbox lost after the reward was read takes no score away", () => {
  const stop: TrialStop = { kind: "sandbox", failure: "lost", message: "gone" };
  expect(decideOutcome({ ...GRADED, stop, phase: "collect" })).toMatchObject({ kind: "scored" });
  expect(decideOutcome({ ...GRADED, stop: { kind: "interrupted" } })).toMatchObject({
    kind: "scored",
  });
});

test("a budget stop (C-20) and a sleeping host void even a reward", () => {
  expect(decideOutcome({ ...GRADED, stop: { kind: "budget", message: "$5 spent" } })).toMatchObject(
    {
      kind: "unscored",
      fault: "budget",
      category: "budget_stopped",
      detail: "$5 spent",
    },
  );
  expect(decideOutcome({ ...GRADED, stop: { kind: "host-suspended" } })).toMatchObject({
    category: "host_suspended",
    fault: "infrastructure",
  });
});

test("a run that was stopped for a usage anomaly or a refused key says so, not that a cap was reached", () => {
  const why = "a call of x took 9 microUsd, above its reservation of 5";
  expect(decideOutcome({ ...GRADED, stop: { kind: "anomaly", message: why } })).toMatchObject({
    kind: "unscored",
    fault: "budget",
    category: "usage_anomaly",
    detail: `the run was stopped, usage above its reservation: ${why}`,
  });
  const cutOff: TrialStop = { kind: "circuit-open", message: "open" };
  expect(decideOutcome({ ...GRADED, stop: cutOff })).toMatchObject({ category: "circuit_open" });
});

test("a verifier that failed or ran out of time is unscored, and only it runs again (C-17, C-18)", () => {
  for (const [category, fault] of [
    ["verifier_failure", "task"],
    ["verifier_timeout", "task"],
    ["verifier_dep_install", "task"],
    ["verifier_other", "task"],
    ["verifier_infra", "infrastructure"],
  ] as const) {
    const evidence = { ...GRADED, verifier: crashed(category), workspaceSaved: true };
    expect(decideOutcome(evidence)).toMatchObject({ category, fault, verifyOnly: true });
    expect(decideOutcome({ ...evidence, workspaceSaved: false })).toMatchObject({
      kind: "unscored",
      verifyOnly: false,
    });
  }
});

test("when the agent hit its limit and the verifier failed, the verifier is what prevents a score", () => {
  expect(
    decideOutcome({ ...GRADED, agent: TIMED_OUT, verifier: crashed(), workspaceSaved: true }),
  ).toMatchObject({ category: "verifier_failure", verifyOnly: true });
});

test("when infrastructure broke the agent and the verifier failed, the whole trial runs again", () => {
  const evidence = { ...GRADED, agent: agentError("infra_failure"), verifier: crashed() };
  expect(decideOutcome({ ...evidence, workspaceSaved: true })).toMatchObject({
    category: "infra_failure",
    fault: "infrastructure",
    verifyOnly: false,
  });
});

test("a pipe that closed because the agent exited is the agent's fault, else infrastructure's", () => {
  const evidence: TrialEvidence = { ...GRADED, verifier: { kind: "not-run" } };
  expect(decideOutcome({ ...evidence, agent: agentError("pipe_closed", 1) })).toMatchObject({
    fault: "agent",
  });
  expect(decideOutcome({ ...evidence, agent: agentError("pipe_closed") })).toMatchObject({
    fault: "infrastructure",
  });
});

test("a limit whose work was not graded is unscored and verified again from the saved workspace", () => {
  const evidence: TrialEvidence = {
    ...GRADED,
    agent: TIMED_OUT,
    verifier: { kind: "not-run" },
    workspaceSaved: true,
  };
  expect(decideOutcome(evidence)).toMatchObject({
    category: "timeout",
    fault: "agent",
    detail: "Agent prompt exceeded wall-clock budget 900s",
    verifyOnly: true,
  });
});

test("a lost sandbox is infrastructure, an image set-up, and one its own files do not give the task's", () => {
  const evidence: TrialEvidence = {
    ...GRADED,
    agent: { kind: "not-started" },
    verifier: { kind: "not-run" },
    phase: "prepare",
  };
  for (const [failure, category, fault] of [
    ["build-failed", "sandbox_setup", "task"],
    ["entrypoint-ended", "sandbox_setup", "task"],
    ["start-failed", "sandbox_setup", "infrastructure"],
    ["build-lost", "sandbox_setup", "infrastructure"],
    ["build-timeout", "sandbox_setup", "infrastructure"],
    ["image-missing", "sandbox_setup", "infrastructure"],
    ["lost", "infra_failure", "infrastructure"],
    ["backend-unavailable", "infra_failure", "infrastructure"],
    ["disk-full", "infra_failure", "infrastructure"],
    ["unsupported", "other", "setup"],
  ] as const)
    expect(
      decideOutcome({ ...evidence, stop: { kind: "sandbox", failure, message: "why" } }),
    ).toEqual({
      kind: "unscored",
      fault,
      category,
      detail: "why",
      phase: "prepare",
      verifyOnly: false,
      afterAgent: false,
    });
});

test("an interruption while the verifier ran keeps the saved work, one while the agent ran does not", () => {
  const evidence: TrialEvidence = {
    ...GRADED,
    verifier: { kind: "not-run" },
    stop: { kind: "interrupted" },
    workspaceSaved: true,
  };
  expect(decideOutcome({ ...evidence, phase: "verify" })).toMatchObject({ verifyOnly: true });
  expect(decideOutcome({ ...evidence, phase: "agent" })).toMatchObject({ verifyOnly: false });
});

// attack 32
test("a verifier that fails twice on this workspace but works on nop's is named apart", () => {
  const evidence = {
    ...GRADED,
    verifier: crashed(),
    verifierFailures: 2,
    verifierWorksOnNop: true,
  };
  expect(decideOutcome(evidence)).toMatchObject({ afterAgent: true });
  expect(decideOutcome({ ...evidence, verifierFailures: 1 })).toMatchObject({ afterAgent: false });
  expect(decideOutcome({ ...evidence, verifierWorksOnNop: null })).toMatchObject({
    afterAgent: false,
  });
});

test("no verdict and no error is unscored, not a zero", () => {
  expect(decideOutcome({ ...GRADED, verifier: { kind: "not-run" } })).toMatchObject({
    kind: "unscored",
    category: "no_verdict",
  });
});
