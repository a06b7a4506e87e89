import type { Outcome } from "../../../core/model/outcome.ts";
import type { TrialRecord } from "../../../core/model/record.ts";
import type { Isolation } from "../../../core/model/trial.ts";

/** What a test says about a record; everything else is a plain finished attempt. */
export type RecordWish = Partial<TrialRecord> & {
  /** A scored outcome with this reward. */
  readonly reward?: number;
  /** An unscored outcome of this category. */
  readonly unscored?: Extract<Outcome, { kind: "unscored" }>["category"];
};

export function aRecord({ reward, unscored, ...wish }: RecordWish = {}): TrialRecord {
  const taskName = wish.taskName ?? "half-life";
  const attempt = wish.attempt === undefined ? 1 : wish.attempt;
  return {
    taskName,
    rolloutName: `${taskName}__0000000${attempt ?? 0}`,
    taskDigest: "sha256:aa",
    contextDigest: null,
    settingsDigest: "sha256:bb",
    attempt,
    agent: "claude-agent-acp",
    agentName: "@agentclientprotocol/claude-agent-acp",
    model: "xiaomi/mimo-v2.6-flash",
    outcome: outcomeOf(reward, unscored),
    rewards: unscored === undefined ? { reward: reward ?? 1 } : null,
    error: null,
    verifierError: null,
    toolCalls: 3,
    skillInvocations: 0,
    prompts: 1,
    trajectory: { steps: 5, toolCallSteps: 3 },
    usage: {
      inputTokens: 900,
      outputTokens: 100,
      cacheReadTokens: 0,
      cacheCreationTokens: 0,
      totalTokens: 1000,
      costUsd: null,
      usageSource: "provider_response",
      priceSource: null,
    },
    startedAt: "2026-11-04T18:24:21.000Z",
    finishedAt: "2026-11-04T18:25:21.000Z",
    timing: { environment_setup: 2, agent_execution: 50, verifier: 5, total: 60 },
    spans: [],
    resources: null,
    isolation: null,
    verification: null,
    workspaceSaved: false,
    firstFailedTest: null,
    ...wish,
  };
}

function outcomeOf(reward = 1, category?: RecordWish["unscored"]): Outcome {
  if (category === undefined) {
    return { kind: "scored", reward, passed: reward === 1, limit: null };
  }
  return {
    kind: "unscored",
    fault: category === "budget_stopped" ? "budget" : "infrastructure",
    category,
    detail: `${category} happened`,
    phase: null,
    verifyOnly: false,
    afterAgent: false,
  };
}

/** The isolation of an attempt that ran on the image with this digest. */
export function onImage(digest: string | null): Isolation {
  return {
    backend: "docker",
    image: "task",
    image_digest: digest,
    platform: "linux/amd64",
    uid_separation: true,
    no_new_privs: true,
    network_agent: "closed",
    network_verifier: "closed",
    seccomp: "builtin",
    notes: [],
    hardening: null,
  };
}
