import * as z from "zod";

/** Whose problem an unscored trial is (spec 2.7, statistics D1). */
export const Fault = z.enum(["task", "agent", "infrastructure", "setup", "budget"]);
export type Fault = z.infer<typeof Fault>;

/**
 * Why an agent phase, or anything before it, went wrong. The contract's `error_category` words
 * (spec 2.3); chosen where the failure arises, never read from text.
 */
export const ErrorCategory = z.enum([
  "idle_timeout",
  "install_failure",
  "pipe_closed",
  "suspected_api_error",
  "api_error",
  "provider_auth",
  "provider_rate_limit",
  "provider_rejected",
  "acp_error",
  "sandbox_setup",
  "infra_failure",
  "timeout",
  "usage_limit",
  "agent_integration",
  "other",
]);
export type ErrorCategory = z.infer<typeof ErrorCategory>;

/** Why a verifier gave no verdict: the contract's `verifier_error_category` words (spec 2.4). */
export const VerifierErrorCategory = z.enum([
  "verifier_failure",
  "verifier_infra",
  "verifier_timeout",
  "verifier_dep_install",
  "verifier_other",
]);
export type VerifierErrorCategory = z.infer<typeof VerifierErrorCategory>;

/** The limit that ended the agent's work although the work was graded (statistics D1). */
export const Limit = z.enum(["wall-clock", "idle", "disk", "memory", "tokens", "turns", "cost"]);
export type Limit = z.infer<typeof Limit>;

/** The phases of a trial, in order (design 5, attack 17). */
export const Phase = z.enum([
  "prepare",
  "start",
  "setup",
  "agent",
  "stop-agent",
  "freeze",
  "verify",
  "collect",
  "end",
]);
export type Phase = z.infer<typeof Phase>;

/** A reward map as the verifier wrote it, validated: `reward` plus any metrics. */
export const Rewards = z.looseObject({ reward: z.number() });
export type Rewards = z.infer<typeof Rewards>;

/** A failure with the type it got where it arose. */
export const AgentError = z.object({
  category: ErrorCategory,
  message: z.string(),
  /** A provider's failure was of the passing kind (429, 5xx): worth another attempt at once. */
  transient: z.boolean().optional(),
});
export type AgentError = z.infer<typeof AgentError>;

export const VerifierError = z.object({ category: VerifierErrorCategory, message: z.string() });
export type VerifierError = z.infer<typeof VerifierError>;

/** The verifier gave a valid reward: final, whatever the agent's own error (statistics D1). */
export const Scored = z.object({
  kind: z.literal("scored"),
  reward: z.number(),
  /** True for a reward of exactly 1 (spec 2.1). */
  passed: z.boolean(),
  limit: Limit.nullable(),
});

/** No valid reward. Never shown or counted as 0. */
export const Unscored = z.object({
  kind: z.literal("unscored"),
  fault: Fault,
  category: z.union([
    ErrorCategory,
    VerifierErrorCategory,
    z.enum([
      "budget_stopped",
      "usage_anomaly",
      "interrupted",
      "no_verdict",
      "circuit_open",
      "host_suspended",
    ]),
  ]),
  /** One line for people. */
  detail: z.string(),
  phase: Phase.nullable(),
  /** The agent's work is saved, so only the verifier has to run again. */
  verifyOnly: z.boolean(),
  /** Attack 32: the verifier fails on this agent's workspace although it works on nop's. */
  afterAgent: z.boolean(),
});

export const Outcome = z.discriminatedUnion("kind", [Scored, Unscored]);
export type Outcome = z.infer<typeof Outcome>;
export type Scored = z.infer<typeof Scored>;
export type Unscored = z.infer<typeof Unscored>;
