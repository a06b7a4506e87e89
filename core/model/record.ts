import * as z from "zod";
import { AgentError, Outcome, Rewards, VerifierError } from "./outcome.ts";
import { Isolation, PhaseSpan, Resources, Verification } from "./trial.ts";

/** Tokens and money of one attempt. `null` means unknown, and is never summed as 0. */
export const Usage = z.object({
  inputTokens: z.int().min(0).nullable(),
  outputTokens: z.int().min(0).nullable(),
  cacheReadTokens: z.int().min(0).nullable(),
  cacheCreationTokens: z.int().min(0).nullable(),
  totalTokens: z.int().min(0).nullable(),
  costUsd: z.number().min(0).nullable(),
  usageSource: z.string(),
  priceSource: z.string().nullable(),
});
export type Usage = z.infer<typeof Usage>;

/**
 * One attempt as plans, summaries and reports see it, whichever tool wrote its result.json. Fields
 * that BenchFlow's own files lack are null there.
 */
export const TrialRecord = z.object({
  taskName: z.string(),
  rolloutName: z.string(),
  taskDigest: z.string().nullable(),
  /** Of the task's build context; null for a prebuilt image, and in files that do not say. */
  contextDigest: z.string().nullable(),
  settingsDigest: z.string().nullable(),
  /** Number of this execution of the trial; null in files by BenchFlow. */
  attempt: z.int().min(1).nullable(),
  agent: z.string(),
  agentName: z.string(),
  model: z.string().nullable(),
  outcome: Outcome,
  rewards: Rewards.nullable(),
  error: AgentError.nullable(),
  verifierError: VerifierError.nullable(),
  toolCalls: z.int().min(0),
  skillInvocations: z.int().min(0),
  prompts: z.int().min(0),
  trajectory: z
    .object({
      steps: z.int().min(0),
      toolCallSteps: z.int().min(0),
    })
    .nullable(),
  usage: Usage,
  startedAt: z.string(),
  finishedAt: z.string(),
  /** Seconds per contract phase (spec 1.4 #36); absent phases did not run. */
  timing: z.record(z.string(), z.number()),
  spans: z.array(PhaseSpan),
  resources: Resources.nullable(),
  isolation: Isolation.nullable(),
  /** Null in files by BenchFlow, and in ours from before it was recorded. */
  verification: Verification.nullable().default(null),
  /** The agent's final workspace lies in `evidence/`. */
  workspaceSaved: z.boolean(),
  /** First failing CTRF test, `<name> failed: <message>`, for the failure line. */
  firstFailedTest: z.string().nullable(),
});
export type TrialRecord = z.infer<typeof TrialRecord>;

/** A file of the tree that could not be read as what it claims to be: reported, not fatal to the others. */
export const Quarantined = z.object({ path: z.string(), reason: z.string() });
export type Quarantined = z.infer<typeof Quarantined>;
