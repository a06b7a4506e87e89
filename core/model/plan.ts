import * as z from "zod";
import { RunSettings } from "./settings.ts";
import { SkippedTask, Task } from "./task.ts";

/** What the plan decided for one trial of one repeat, and why (`--explain` prints the why). */
export const PlannedTrial = z.object({
  taskName: z.string(),
  action: z.enum(["run", "keep", "verify-only", "blocked"]),
  why: z.string(),
  /** Number that the next attempt gets. */
  attempt: z.int().min(1),
  /** The attempt whose result stands (keep) or whose workspace is verified again (verify-only). */
  rolloutName: z.string().nullable(),
});
export type PlannedTrial = z.infer<typeof PlannedTrial>;

/** One repeat: a job folder and its trials in the order in which they start. */
export const JobPlan = z.object({
  repeat: z.int().min(1),
  /** The jobs folder of this repeat: `<jobs>` or `<jobs>/<alias>/trial-NN`. */
  jobsDir: z.string(),
  jobName: z.string(),
  resumed: z.boolean(),
  trials: z.array(PlannedTrial),
});
export type JobPlan = z.infer<typeof JobPlan>;

/** Everything a run will do, as data: `--dry-run`, `--explain`, resume and coverage are views of it. */
export const RunPlan = z.object({
  settings: RunSettings,
  settingsDigest: z.string(),
  tasks: z.array(Task),
  skipped: z.array(SkippedTask),
  jobs: z.array(JobPlan),
  warnings: z.array(z.string()),
});
export type RunPlan = z.infer<typeof RunPlan>;
