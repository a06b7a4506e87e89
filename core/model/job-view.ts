import * as z from "zod";
import { Isolation, Verification } from "./trial.ts";
import { Quarantined } from "./record.ts";
import { MixedImage, SolveRates } from "./summary.ts";
import { ResultOutcome } from "./trial-result.ts";

const Count = z.number().min(0);
const Rate = z.number().min(0).max(1);

/** What rates are taken of (spec 12.5). `attempted` = scored + assessment_errors + unscored. */
export const Denominators = z.object({
  attempted: Count,
  scored: Count,
  assessment_errors: Count,
  unscored: Count,
  execution_errors: Count,
  integration_failures: Count,
  passed: Count,
  mean_reward: z.number().nullable(),
  pass_rate_scored: Rate.nullable(),
  pass_rate_attempted: Rate.nullable(),
  /** Scored, and the agent's work ended without an error as well. */
  clean_scored: Count,
  clean_passed: Count,
  pass_rate_clean: Rate.nullable(),
  controls_excluded: Count,
});
export type Denominators = z.infer<typeof Denominators>;

/** Paths relative to the trial's `path`; null for a file that is not there. */
const VerifierFiles = z.object({
  ctrf: z.string().nullable(),
  reward_details: z.string().nullable(),
  reward_json: z.string().nullable(),
  reward_text: z.string().nullable(),
  stdout: z.string().nullable(),
  stderr: z.string().nullable(),
});

const Tokens = z.object({
  input_tokens: Count.nullable(),
  output_tokens: Count.nullable(),
  cache_read_tokens: Count.nullable(),
  cache_creation_tokens: Count.nullable(),
  total_tokens: Count.nullable(),
  cost_usd: z.number().nullable(),
  usage_source: z.string(),
  price_source: z.string().nullable(),
});

/**
 * A trial as readers get it: `benchflow.trial` v1 (spec 12.5), the attempt that counts. Beyond the
 * contract: `score_outcome` knows `stopped` trials, which no total counts, and `outcome` says why a
 * trial has no score. Keys of features that this edition does not have are null or empty.
 */
export const TrialDocument = z.object({
  kind: z.literal("benchflow.trial"),
  schema_version: z.literal(1),
  schema_minor: z.literal(3),
  source: z.literal("result.json"),
  path: z.string(),
  row: z.null(),
  task_name: z.string(),
  rollout_name: z.string(),
  agent: z.string(),
  agent_name: z.string(),
  model: z.string().nullable(),
  reward: z.number().nullable(),
  rewards: z.record(z.string(), z.unknown()).nullable(),
  passed: z.boolean(),
  score_outcome: z.enum(["passed", "failed", "errored", "verifier_errored", "stopped"]),
  execution: z.enum(["completed", "errored", "timed_out", "integration_failed"]),
  assessment: z.enum(["scored", "error", "unscored"]),
  control: z.enum(["oracle", "empty"]).nullable(),
  error: z.string().nullable(),
  error_category: z.string().nullable(),
  verifier_error: z.string().nullable(),
  verifier_error_category: z.string().nullable(),
  n_tool_calls: Count,
  n_prompts: Count,
  usage: Tokens,
  started_at: z.string(),
  finished_at: z.string(),
  duration_sec: z.number().nullable(),
  timing: z.record(z.string(), z.number()),
  settings: z.object({
    task_digest: z.string().nullable(),
    context_digest: z.string().nullable(),
    settings_digest: z.string().nullable(),
  }),
  forks: z.array(z.never()),
  checkpoints: z.null(),
  verifier: VerifierFiles,
  review: z.null(),
  rubric_reviews: z.array(z.never()),
  sandbox: Isolation.nullable(),
  verification: Verification.nullable(),
  scoring: z.null(),
  integration_failure: z.null(),
  attempts: z.array(
    z.object({ rollout_name: z.string(), attempt: z.int().nullable(), scored: z.boolean() }),
  ),
  trajectory: z.string().nullable(),
  outcome: ResultOutcome,
});
export type TrialDocument = z.infer<typeof TrialDocument>;

const Interrupted = z.object({
  path: z.string(),
  task_name: z.string(),
  agent: z.string().nullable(),
  model: z.string().nullable(),
  started_at: z.string().nullable(),
  sandbox_id: z.string().nullable(),
});

/**
 * What `bench results --json` prints: `benchflow.job` v1 (spec 12.5) over one job or all jobs of a
 * folder. `denominators` leaves controls out; `jobs` (ours) has the counts of each job.
 */
export const JobDocument = z.object({
  kind: z.literal("benchflow.job"),
  schema_version: z.literal(1),
  path: z.string(),
  job_kind: z.enum(["evaluation", "directory"]),
  denominators: Denominators,
  denominators_with_controls: Denominators,
  cost_usd: z.number().nullable(),
  trials: z.array(TrialDocument),
  /** The job's summary.json as it stands there; null for a directory. */
  summary: z.unknown(),
  groups: z.array(
    z.object({
      agent: z.string(),
      model: z.string().nullable(),
      denominators: Denominators,
    }),
  ),
  interrupted: z.array(Interrupted),
  error_categories: z.record(z.string(), Count),
  timing_totals: z.record(z.string(), z.number()),
  solve_rates: SolveRates,
  jobs: z.array(
    z.object({
      path: z.string(),
      job_name: z.string(),
      alias: z.string().nullable(),
      repeat: z.int().nullable(),
      agent: z.string(),
      model: z.string().nullable(),
      control: z.enum(["oracle", "empty"]).nullable(),
      planned: Count,
      total: Count,
      passed: Count,
      failed: Count,
      errored: Count,
      verifier_errored: Count,
      stopped: Count,
      never_started: Count,
      score: Rate.nullable(),
      mean_reward: z.number().nullable(),
      total_tokens: Count.nullable(),
      cost_usd: z.number().nullable(),
      attempts: Count,
      elapsed_sec: Count,
    }),
  ),
  quarantined: z.array(Quarantined),
  /** Folders of attempts whose seal a later command wrote. */
  recovered: z.array(z.string()),
  /** Over one job, or over the repeats of one run; `jobs` are their paths. */
  mixed_images: z.array(MixedImage.extend({ jobs: z.array(z.string()) })),
});
export type JobDocument = z.infer<typeof JobDocument>;
