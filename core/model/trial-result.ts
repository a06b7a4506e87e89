import * as z from "zod";
import { Diagnostics } from "./diagnostics.ts";
import { CostStatus, ModelCalls } from "./model-calls.ts";
import { ErrorCategory, Rewards, Unscored, Scored, VerifierErrorCategory } from "./outcome.ts";
import { Isolation, PhaseSpan, Resources, Verification } from "./trial.ts";

const Count = z.int().min(0);
const Seconds = z.number().min(0);

/** The six keys that say which skills a trial had (spec 1.4 #7-12). */
export const SkillFields = z.object({
  skill_mode: z.enum(["no-skill", "with-skill", "self-gen"]),
  skill_source: z.enum(["none", "task_bundled", "custom_runtime", "self_generated"]),
  requested_skills_dir: z.string().nullable(),
  effective_skills_dir: z.string().nullable(),
  skills_sandbox_dir: z.string().nullable(),
  include_task_skills: z.boolean(),
});
export type SkillFields = z.infer<typeof SkillFields>;

/** What the trajectory holds, counted by kind of event (spec 1.4 #18). */
export const TrajectorySummary = z.object({
  steps: Count,
  tool_call_steps: Count,
  user_message_steps: Count,
  agent_message_steps: Count,
  agent_thought_steps: Count,
  other_steps: Count,
  event_type_counts: z.record(z.string(), Count),
  tool_call_status_counts: z.record(z.string(), Count),
  partial_trajectory: z.boolean(),
  trajectory_source: z.enum(["acp", "partial_acp", "scraped", "hosted_env"]).nullable(),
});
export type TrajectorySummary = z.infer<typeof TrajectorySummary>;

/** How tokens were counted (spec 1.4 #19). */
export const UsageTracking = z.object({
  requested: z.enum(["auto", "required", "off"]),
  status: z.enum(["enabled", "off", "unavailable"]),
  environment: z.string(),
  endpoint_kind: z.enum(["sandbox", "host", "agent_native", "none"]),
  usage_source: z.string(),
});
export type UsageTracking = z.infer<typeof UsageTracking>;

/** Who took part and in which order they spoke (spec 1.4 #37). */
export const Scene = z.object({
  name: z.string(),
  skills_dir: z.string().nullable(),
  roles: z.array(
    z.object({
      name: z.string(),
      agent: z.string(),
      model: z.string().nullable(),
      reasoning_effort: z.string().nullable(),
      timeout_sec: z.number().nullable(),
      idle_timeout_sec: z.number().nullable(),
      skills_dir: z.string().nullable(),
      capabilities: z.array(z.string()).nullable(),
      env_keys: z.array(z.string()),
    }),
  ),
  turns: z.array(z.object({ role: z.string(), has_prompt: z.boolean() })),
});
export type Scene = z.infer<typeof Scene>;

export const Loop = z.looseObject({ strategy: z.string() });
export type Loop = z.infer<typeof Loop>;

/** Where the task's files came from (spec 1.4 #39). */
export const ResultSource = z.object({
  type: z.literal("git"),
  repo: z.string().nullable(),
  requested_ref: z.string().nullable(),
  resolved_sha: z.string(),
  path: z.string(),
  dirty: z.boolean(),
});
export type ResultSource = z.infer<typeof ResultSource>;

/** An outcome as result.json spells it. */
export const ResultOutcome = z.discriminatedUnion("kind", [
  Scored,
  z.object({
    kind: z.literal("unscored"),
    fault: Unscored.shape.fault,
    category: Unscored.shape.category,
    detail: z.string(),
    phase: Unscored.shape.phase,
    verify_only: z.boolean(),
    after_agent: z.boolean(),
  }),
]);
export type ResultOutcome = z.infer<typeof ResultOutcome>;

export const ResultSpan = z.object({
  phase: PhaseSpan.shape.phase,
  started_at_utc: z.string(),
  seconds: Seconds,
});

/** Tokens are null when nobody counted them; the contract's 0 means that there were none. */
const AgentResult = z.object({
  n_tool_calls: Count,
  n_skill_invocations: Count,
  n_prompts: Count,
  n_input_tokens: Count.nullable(),
  n_output_tokens: Count.nullable(),
  n_cache_read_tokens: Count.nullable(),
  n_cache_creation_tokens: Count.nullable(),
  total_tokens: Count.nullable(),
  cost_usd: z.number().min(0).nullable(),
  usage_source: z.string(),
  price_source: z.string().nullable(),
  /** Only where a proxy counted (spec 9.5). */
  cost_status: CostStatus.optional(),
});

const FinalMetrics = z.object({
  total_prompt_tokens: Count.nullable(),
  total_completion_tokens: Count.nullable(),
  total_cached_tokens: Count.nullable(),
  total_cost_usd: z.number().min(0).nullable(),
});

/**
 * result.json as we write it: the contract's keys in the contract's order (spec 1.4), then ours.
 * `rewards` is null unless the trial is scored; a reward that does not count is in
 * `withheld_rewards`. `started_at` and `finished_at` are local time without a zone, the same moments
 * are in `…_utc`.
 */
export const TrialResult = z.object({
  task_name: z.string(),
  rollout_name: z.string(),
  rewards: Rewards.nullable(),
  agent: z.string(),
  agent_name: z.string(),
  model: z.string().nullable(),
  ...SkillFields.shape,
  n_tool_calls: Count,
  n_skill_invocations: Count,
  n_prompts: Count,
  agent_result: AgentResult,
  final_metrics: FinalMetrics,
  trajectory_summary: TrajectorySummary.nullable(),
  usage_tracking: UsageTracking,
  error: z.string().nullable(),
  error_category: ErrorCategory.nullable(),
  verifier_error: z.string().nullable(),
  verifier_error_category: VerifierErrorCategory.nullable(),
  export_error: z.string().nullable(),
  ...Diagnostics.shape,
  partial_trajectory: z.boolean(),
  trajectory_source: TrajectorySummary.shape.trajectory_source,
  started_at: z.string(),
  finished_at: z.string(),
  timing: z.record(z.string(), Seconds),
  scenes: z.array(Scene),
  loop: Loop,
  source: ResultSource.optional(),
  dataset_name: z.string().optional(),
  dataset_version: z.string().optional(),
  task_digest: z.string().optional(),
  sandbox_id: z.string().nullable(),
  outcome: ResultOutcome,
  attempt: z.int().min(1).nullable(),
  context_digest: z.string().nullable(),
  settings_digest: z.string().nullable(),
  withheld_rewards: Rewards.nullable(),
  started_at_utc: z.string().nullable(),
  finished_at_utc: z.string().nullable(),
  timing_spans: z.array(ResultSpan),
  resources: Resources.nullable(),
  isolation: Isolation.nullable(),
  verification: Verification.nullable(),
  workspace_saved: z.boolean(),
  first_failed_test: z.string().nullable(),
  model_calls: ModelCalls.optional(),
});
export type TrialResult = z.infer<typeof TrialResult>;
