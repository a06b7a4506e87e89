import * as z from "zod";
import { Evaluation } from "./evaluation.ts";
import { BudgetSummary } from "./ledger-budget.ts";
import { CostStatus } from "./model-calls.ts";
import { Fault } from "./outcome.ts";
import { Quarantined } from "./record.ts";
import { MixedImage, ScoreViews, SuspectTrial } from "./summary.ts";
import { ResultSource } from "./trial-result.ts";

const Count = z.int().min(0);
const Rate = z.number().min(0).max(1);
const Pair = z.tuple([Rate, Rate]);
const Digest = z.string().regex(/^[0-9a-f]{64}$/u);

/** An interval over tasks with all that is needed to compute it again (docs/statistics.md). */
export const CardInterval = z.object({
  low: Rate,
  high: Rate,
  method: z.enum(["enumerated", "resampled", "wilson-tasks", "wilson-trials"]),
  tasks: Count,
  level: z.number().nullable(),
  resamples: Count.nullable(),
  seed: z.int().nullable(),
});
export type CardInterval = z.infer<typeof CardInterval>;

/** Whose scores these are: whatever of it differs makes another setting (spec 1.10). */
export const CardSetting = z.object({
  agent: z.string(),
  /** What the agent called itself when it was connected. */
  agent_names: z.array(z.string()),
  /** Package to version of what the agent runs; null where nothing recorded it. */
  agent_versions: z.record(z.string(), z.string()).nullable(),
  model: z.string().nullable(),
  /** Names that providers answered with; null where nobody recorded them. */
  served_models: z.array(z.string()).nullable(),
  /** Host and path of a base URL that is not the provider's own; null for its own. */
  route: z.string().nullable(),
  /** False in files that do not say which route was taken. */
  route_known: z.boolean(),
  /** The effort that was asked for; null for the agent's default. */
  effort: z.string().nullable(),
  /** False in files that do not say which effort was asked for. */
  effort_known: z.boolean(),
  environment: z.string().nullable(),
  /** Name and version of the tool that ran the trials; null where nothing recorded it. */
  tool: z.string().nullable(),
  settings_digest: z.string().nullable(),
  /** sha256 over the names and digests of the tasks. */
  tasks_digest: Digest,
});
export type CardSetting = z.infer<typeof CardSetting>;

/** One task under one setting, over all repeats. */
export const CardTask = z.object({
  task_name: z.string(),
  task_digests: z.array(z.string()),
  planned: Count,
  /** Trials with a score. */
  trials: Count,
  passed: Count,
  pass_rate: Rate.nullable(),
  /** Wilson's, over the task's trials, which are independent given the task. */
  interval_95: Pair.nullable(),
  mean_reward: z.number().nullable(),
  rewards: z.array(z.number()),
  images: z.array(
    z.object({ image: z.string(), image_digest: z.string().nullable(), platform: z.string() }),
  ),
  /** The agent's time limit in seconds; null where it is unknown or differs. */
  limit_sec: z.number().nullable(),
  /** Scored trials whose agent was ended by that limit. */
  limit_hits: Count,
});
export type CardTask = z.infer<typeof CardTask>;

/** A trial: how the agent's side ended beside what the verifier gave. */
export const CardTrial = z.object({
  /** Folder, relative to what the card is of. */
  path: z.string(),
  task_name: z.string(),
  repeat: Count.nullable(),
  attempt: z.int().nullable(),
  attempts: Count,
  reward: z.number().nullable(),
  class: z.enum(["passed", "failed", "errored", "verifier_errored", "stopped"]),
  model_outcome: z.enum(["completed", "errored", "timed_out", "integration_failed"]),
  /** Why the last main reply of the model stopped; null where nobody recorded it. */
  stop_reason: z.string().nullable(),
  limit: z.string().nullable(),
  fault: Fault.nullable(),
  category: z.string().nullable(),
  seconds: z.number().nullable(),
  total_tokens: Count.nullable(),
  cost_usd: z.number().min(0).nullable(),
});
export type CardTrial = z.infer<typeof CardTrial>;

/** Sampling parameters of the first 20 requests of each trial, as they went upstream. */
export const CardSampling = z.object({
  requests: Count,
  /** Trials with at least one such request, and trials whose requests nobody recorded. */
  trials: Count,
  unrecorded_trials: Count,
  parameters: z.array(
    z.object({
      name: z.string(),
      values: z.array(z.object({ value: z.union([z.string(), z.number()]), requests: Count })),
      /** Requests that left it to the provider. */
      not_sent: Count,
    }),
  ),
});
export type CardSampling = z.infer<typeof CardSampling>;

/** Trials without a score for one reason, with their names. */
const CardUnscored = z.object({
  fault: Fault,
  category: z.string(),
  label: z.string(),
  trials: z.array(z.string()),
});

const CardPassAtK = z.object({
  k: z.int().min(1),
  pass_at_k: Rate.nullable(),
  pass_at_k_95: Pair.nullable(),
  pass_hat_k: Rate.nullable(),
  pass_hat_k_95: Pair.nullable(),
  tasks: Count,
  tasks_short: Count,
});

/** What trials cost, all attempts included; null is unknown and never 0. */
export const CardSpend = z.object({
  attempts: Count,
  retried_trials: Count,
  superseded_attempts: Count,
  input_tokens: Count.nullable(),
  output_tokens: Count.nullable(),
  cache_read_tokens: Count.nullable(),
  cache_creation_tokens: Count.nullable(),
  total_tokens: Count.nullable(),
  cost_usd: z.number().min(0).nullable(),
  uncounted_attempts: Count,
  unpriced_attempts: Count,
  /** Attempts by how sure their cost is; `unknown` where nobody recorded it. */
  cost_status: z.partialRecord(z.union([CostStatus, z.literal("unknown")]), Count),
  price_sources: z.array(z.string()),
  /** Total cost over passes; null at no pass, and where the cost is not known whole. */
  cost_per_pass_usd: z.number().min(0).nullable(),
});
export type CardSpend = z.infer<typeof CardSpend>;

/** Everything about one setting. */
export const CardGroup = z.object({
  setting: CardSetting,
  jobs: z.array(z.string()),
  counts: z.object({
    planned: Count,
    scored: Count,
    passed: Count,
    failed: Count,
    errored: Count,
    verifier_errored: Count,
    stopped: Count,
    never_started: Count,
    timed_out: Count,
    tries_per_task: z.int().min(0).nullable(),
  }),
  /** Mean over the tasks' pass rates; null without a scored trial. */
  score: Rate.nullable(),
  score_95: CardInterval.nullable(),
  cautions: z.array(z.string()),
  mean_reward: z.number().nullable(),
  views: ScoreViews,
  /** The score on complete repeats alone; null where all are complete, or none is. */
  complete_repeats: z
    .object({
      repeats: Count,
      of: Count,
      scored: Count,
      passed: Count,
      score: Rate.nullable(),
      score_95: CardInterval.nullable(),
    })
    .nullable(),
  pass_at_k: z.array(CardPassAtK),
  tasks: z.array(CardTask),
  unscored: z.array(CardUnscored),
  stopped: z.array(z.string()),
  never_started: z.array(z.string()),
  spend: CardSpend,
  /** Of the trials that know theirs; null where none does. */
  time: z.object({
    shortest_sec: z.number().nullable(),
    longest_sec: z.number().nullable(),
    total_sec: z.number().nullable(),
  }),
  sampling: CardSampling,
  /** Trials within 10% of a limit of time or memory, or at it. */
  headroom: z.array(
    z.object({
      trial: z.string(),
      limit: z.enum(["time", "memory"]),
      used: z.number(),
      allowed: z.number(),
    }),
  ),
  /** Trials whose use of time and memory nobody measured. */
  headroom_unknown: Count,
  suspects: z.array(SuspectTrial),
  mixed_images: z.array(MixedImage),
  trials: z.array(CardTrial),
});
export type CardGroup = z.infer<typeof CardGroup>;

/** A control on the tasks of the scores: how many of them it was run on, and passed. */
export const CardControl = z.object({
  control: z.enum(["oracle", "empty"]),
  tasks: Count,
  scored: Count,
  passed: Count,
  /** Tasks that it should have passed (oracle) or failed (nop) and did not; those without a score. */
  unexpected: z.array(z.string()),
  unscored: z.array(z.string()),
  /** Tasks of the scores on which it was not run, at the same version. */
  missing: z.array(z.string()),
});
export type CardControl = z.infer<typeof CardControl>;

/** What a job was asked to do, and the hashes of what it left. */
export const CardJob = z.object({
  /** Relative to what the card is of; `.` for the job itself. */
  path: z.string(),
  job_name: z.string(),
  repeat: Count.nullable(),
  agent: z.string(),
  model: z.string().nullable(),
  control: z.enum(["oracle", "empty"]).nullable(),
  created_at_utc: z.string().nullable(),
  first_started: z.string().nullable(),
  last_finished: z.string().nullable(),
  /** evaluation.json's `config` and `settings`: every setting that was sent. */
  config: Evaluation.shape.config.unwrap(),
  settings: Evaluation.shape.settings.unwrap(),
  source: ResultSource.nullable(),
  /** Of the command's pot, as summary.json has it. */
  budget: BudgetSummary.nullable(),
  /** File name to sha256 of the job's own files; a file that is not there is absent. */
  files: z.record(z.string(), Digest),
  interrupted: z.array(z.string()),
  quarantined: z.array(Quarantined),
});
export type CardJob = z.infer<typeof CardJob>;

/**
 * run-card.json of a job, or of a whole run at its jobs folder (spec 1.10; ours, since BenchFlow's
 * fields are not documented): everything that report.md says and that another researcher needs to
 * compute it again. A pure function of the jobs' files: `bench verify` makes it again and compares.
 */
export const RunCard = z.object({
  kind: z.literal("benchflow.run-card"),
  schema_version: z.literal(1),
  /** Name of the job, or of the run's folder. */
  name: z.string(),
  scope: z.enum(["job", "run"]),
  rules: z.literal("rc2"),
  success_rule: z.literal("passed (reward = 1)"),
  /** One for each setting; controls are not among them unless there is nothing else. */
  groups: z.array(CardGroup),
  /** Names of what differs between the settings; empty for one setting. */
  mixed: z.array(z.string()),
  controls: z.array(CardControl),
  /** Seeds that the numbers depend on; null where none was used. */
  seeds: z.object({
    intervals: z.int().nullable(),
    generator: z.literal("xoroshiro128+ (pure-rand)"),
    task_sample: z.array(z.int()),
    task_order: z.array(z.int()),
  }),
  /** Nobody records who looked when: intervals hold for a number of trials that was fixed before. */
  looks: z.object({ rule: z.literal("fixed before the run"), recorded: z.literal(false) }),
  jobs: z.array(CardJob),
  /** sha256 over all seals: of the lines `<sha256 of seal.json>  <attempt's path>`, in order of paths. */
  seals: z.object({ root_sha256: Digest, sealed: Count, unsealed: z.array(z.string()) }),
});
export type RunCard = z.infer<typeof RunCard>;
