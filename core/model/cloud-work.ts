import * as z from "zod";
import { RunPlan } from "./plan.ts";
import { RunSettings } from "./settings.ts";
import { AttemptSpec } from "./trial.ts";

/** A task's image in the account, and what its configuration says that nobody in the container can see. */
export const CloudImage = z.object({
  reference: z.string(),
  digest: z.string().nullable(),
  user: z.string(),
  entrypoint: z.array(z.string()),
});
export type CloudImage = z.infer<typeof CloudImage>;

/** What a runner in the cloud needs to know of its one attempt; `runs/<run>/work/<rollout>.json`. */
export const CloudWork = z.object({
  schema_version: z.literal(1),
  run: z.string(),
  spec: AttemptSpec,
  settings: RunSettings,
  /** Text of the job's evaluation.json. */
  evaluation: z.string(),
  /** The job's folder as the person who started the run typed it: results name their place by it. */
  jobDir: z.string(),
  /** sha256 of the task's bundle. */
  bundle: z.string(),
  image: CloudImage,
});
export type CloudWork = z.infer<typeof CloudWork>;

/** One line of the map's items: pointers, because no state may carry more than 256 KiB. */
export const CloudItem = z.object({
  rollout: z.string(),
  work: z.string(),
  taskDefinition: z.string(),
  /** The state's own limit, behind every limit of the runner. */
  timeoutSec: z.int().min(1),
});
export type CloudItem = z.infer<typeof CloudItem>;

/** `runs/<run>/plan.json`: what a run was asked to do, for its aggregate and for other machines. */
export const CloudRun = z.object({
  schema_version: z.literal(1),
  run: z.string(),
  /** Whose it is, as the account knows them. */
  owner: z.string(),
  created_at_utc: z.string(),
  job_name: z.string(),
  plan: RunPlan,
  /** Which of the plan's repeats. */
  repeat: z.int().min(1),
  /** Attempts that this run starts. */
  rollouts: z.array(z.string()),
});
export type CloudRun = z.infer<typeof CloudRun>;
