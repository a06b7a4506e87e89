import * as z from "zod";
import { RunSettings } from "./settings.ts";
import { SkippedTask, Task } from "./task.ts";

/** What the plan decided for one trial of one repeat, and why (`--explain` prints the why). */
export const PlannedTrial = z.object({
  taskName: z.string(),
  /** Digest of the task as it is measured; that of the kept result for a task outside the selection. */
  taskDigest: z.string(),
  /** Of the task's build context; null for a prebuilt image, and where a kept result does not know it. */
  contextDigest: z.string().nullable(),
  action: z.enum(["run", "keep", "verify-only", "blocked"]),
  why: z.string(),
  /** Number that the next attempt gets. */
  attempt: z.int().min(1),
  /** The attempt whose result stands (keep) or whose workspace is verified again (verify-only). */
  rolloutName: z.string().nullable(),
  /** How often the verifier gave no verdict in the attempts so far. */
  verifierFailures: z.int().min(0),
});
export type PlannedTrial = z.infer<typeof PlannedTrial>;

/** One repeat: a job folder and its trials in the order in which they start. */
export const JobPlan = z.object({
  repeat: z.int().min(1),
  /** The jobs folder of this repeat: `<jobs>` or `<jobs>/<alias>/trial-NN`. */
  jobsDir: z.string(),
  /**
   * The folder's name. For a new job without `--job-name` it is the time of planning; the store names
   * the folder when the repeat starts, and never takes a name that exists.
   */
  jobName: z.string(),
  resumed: z.boolean(),
  trials: z.array(PlannedTrial),
});
export type JobPlan = z.infer<typeof JobPlan>;

/** Counts over all repeats: what a run of this plan would start. */
export const Forecast = z.object({
  planned: z.int().min(0),
  kept: z.int().min(0),
  verifyOnly: z.int().min(0),
  toRun: z.int().min(0),
  blocked: z.int().min(0),
});
export type Forecast = z.infer<typeof Forecast>;

/** Everything a run will do, as data: `--dry-run`, `--explain`, resume and coverage are views of it. */
export const RunPlan = z.object({
  settings: RunSettings,
  settingsDigest: z.string(),
  /** What the digest was taken of; evaluation.json records it. */
  scoreSettings: z.record(z.string(), z.json()),
  /** The tasks that can run, in the order in which each repeat starts them. */
  tasks: z.array(Task),
  skipped: z.array(SkippedTask),
  jobs: z.array(JobPlan),
  forecast: Forecast,
  warnings: z.array(z.string()),
});
export type RunPlan = z.infer<typeof RunPlan>;
