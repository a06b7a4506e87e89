import * as z from "zod";
import { BudgetSummary } from "./ledger-budget.ts";
import { Quarantined } from "./record.ts";
import { Fault } from "./outcome.ts";
import { SandboxKind } from "./settings.ts";
import { Loop, ResultSource, UsageTracking } from "./trial-result.ts";

const Count = z.number().min(0);
const Rate = z.number().min(0).max(1);
const PerK = z.record(z.string(), Rate.nullable());
const CountPerK = z.record(z.string(), Count);
const Seconds = z.number().min(0);

/** How often tasks are solved (spec 4.4). Rates are null where nothing was scored. */
export const SolveRates = z.object({
  success_rule: z.string(),
  solve_threshold: z.number(),
  tasks: Count,
  trials: Count,
  unscored: Count,
  controls_excluded: Count,
  min_trials_per_task: Count.nullable(),
  max_trials_per_task: Count.nullable(),
  solve_rate: Rate.nullable(),
  nonbinary_rewards: Count,
  ks: z.array(z.int().min(1)),
  pass_at_k: PerK,
  pass_hat_k: PerK,
  tasks_at_k: CountPerK,
  tasks_short_at_k: CountPerK,
  caveats: z.array(z.string()),
});
export type SolveRates = z.infer<typeof SolveRates>;

/** Passes over one denominator, with Wilson's 95% interval; null without trials (statistics D2). */
const ScoreView = z.object({
  passed: Count,
  trials: Count,
  pass_rate: Rate.nullable(),
  interval_95: z.tuple([Rate, Rate]).nullable(),
});

/**
 * The planned view: every planned trial without a score counts as not passed. `highest` is the rate
 * if all of them had passed; `interval_95` reaches from Wilson's low end of the one to his high end
 * of the other (statistics D7).
 */
const PlannedView = ScoreView.extend({ lowest: Rate.nullable(), highest: Rate.nullable() });

export const ScoreViews = z.object({ scored: ScoreView, planned: PlannedView });
export type ScoreViews = z.infer<typeof ScoreViews>;

/** What became of the planned trials; the counts add up to `planned` (statistics D1). */
export const Coverage = z.object({
  planned: Count,
  scored: Count,
  unscored: Count,
  unscored_by_fault: z.partialRecord(Fault, Count),
  stopped: Count,
  never_started: Count,
  scored_ratio: Rate.nullable(),
});

export type Coverage = z.infer<typeof Coverage>;

/** Attempts that were paid for, thrown away ones included, and those whose spending nobody knows. */
export const SpendSummary = z.object({
  attempts: Count,
  superseded_attempts: Count,
  retried_trials: Count,
  uncounted_attempts: Count,
  unpriced_attempts: Count,
  /** Attempts that their verifier left without a verdict, those that were made up for included. */
  attempts_lost_to_verifier: Count,
});

export type SpendSummary = z.infer<typeof SpendSummary>;

/** Sums, means and maxima of the trials' phases, in seconds rounded to 0.1; null when none ran. */
export const PhaseTimes = z.object({
  environment_setup_time_sec: Seconds,
  avg_environment_setup_time_sec: Seconds.nullable(),
  max_environment_setup_time_sec: Seconds.nullable(),
  agent_setup_time_sec: Seconds,
  avg_agent_setup_time_sec: Seconds.nullable(),
  max_agent_setup_time_sec: Seconds.nullable(),
  agent_execution_time_sec: Seconds,
  avg_agent_execution_time_sec: Seconds.nullable(),
  max_agent_execution_time_sec: Seconds.nullable(),
  verifier_time_sec: Seconds,
  avg_verifier_time_sec: Seconds.nullable(),
  max_verifier_time_sec: Seconds.nullable(),
  total_time_sec: Seconds,
  avg_total_time_sec: Seconds.nullable(),
  max_total_time_sec: Seconds.nullable(),
});
export type PhaseTimes = z.infer<typeof PhaseTimes>;

/** A task that was scored on images that differ, so that its scores may not be comparable. */
export const MixedImage = z.object({ task_name: z.string(), image_digests: z.array(z.string()) });
export type MixedImage = z.infer<typeof MixedImage>;

/**
 * A trial whose agent may have tampered with what judges it: `isolation.hardening` of its result.json,
 * whole in its verifier/hardening.json. It is told beside the score and never changes it.
 */
export const SuspectTrial = z.object({
  task_name: z.string(),
  rollout_name: z.string(),
  suspects: z.array(z.string()),
  more_suspects: Count,
});
export type SuspectTrial = z.infer<typeof SuspectTrial>;

/**
 * summary.json of one job. The contract's keys in the order of BenchFlow 0.7.12 (spec 1.9), then
 * ours. There is one classification (`classifyTrial`): passed + failed + errored + verifier_errored
 * = total. Rates over an empty denominator are null. Tokens and money are sums over all attempts
 * and null when no attempt's number is known, where BenchFlow writes 0. The memory keys belong to a
 * feature that this edition does not have.
 */
export const JobSummary = z.object({
  job_name: z.string(),
  reviewer: z.null(),
  agent: z.string(),
  model: z.string().nullable(),
  environment: SandboxKind,
  concurrency: z.int().min(1),
  agent_idle_timeout_sec: z.number().nullable(),
  usage_tracking: UsageTracking.pick({ requested: true }),
  loop: Loop,
  total: Count,
  passed: Count,
  failed: Count,
  errored: Count,
  verifier_errored: Count,
  pass: Count,
  fail: Count,
  error: Count,
  idle_timeout: Count,
  error_categories: z.record(z.string(), Count).nullable(),
  verifier_error_categories: z.record(z.string(), Count).nullable(),
  score: z.string(),
  score_ratio: Rate.nullable(),
  score_excl_errors: z.string(),
  score_excl_errors_ratio: Rate.nullable(),
  mean_reward: z.number().nullable(),
  elapsed_sec: Seconds,
  memory_score: z.null(),
  memory_score_coverage: z.literal(0),
  memory: z.object({ scored: z.literal(0), avg_score: z.null(), score: z.null() }),
  memory_scores: z.object({}),
  total_skill_invocations: Count,
  avg_skill_invocations: z.number().min(0),
  total_input_tokens: Count.nullable(),
  total_output_tokens: Count.nullable(),
  total_cache_read_tokens: Count.nullable(),
  total_cache_creation_tokens: Count.nullable(),
  total_tokens: Count.nullable(),
  total_cost_usd: z.number().min(0).nullable(),
  avg_cost_per_trial_usd: z.number().min(0).nullable(),
  telemetry_coverage: Rate,
  total_tool_calls: Count,
  avg_tool_calls_per_task: z.number().min(0),
  max_tool_calls_per_task: Count,
  total_trajectory_steps: Count,
  avg_trajectory_steps_per_task: z.number().min(0),
  max_trajectory_steps_per_task: Count,
  total_trajectory_tool_call_steps: Count,
  avg_trajectory_tool_call_steps_per_task: z.number().min(0),
  max_trajectory_tool_call_steps_per_task: Count,
  trajectory_summary_coverage: Rate,
  timing_coverage: Rate,
  ...PhaseTimes.shape,
  source: ResultSource.optional(),
  solve_rates: SolveRates,
  settings_digest: z.string().nullable(),
  coverage: Coverage,
  views: ScoreViews,
  spend: SpendSummary,
  duplicate_scores: z.array(z.object({ task_name: z.string(), rollout_name: z.string() })),
  mixed_images: z.array(MixedImage),
  /** Number of `suspects`. */
  suspect: Count,
  suspects: z.array(SuspectTrial),
  quarantined: z.array(Quarantined),
  /** Only where a pot counts what is spent (spec 5.5). */
  budget: BudgetSummary.optional(),
});
export type JobSummary = z.infer<typeof JobSummary>;
