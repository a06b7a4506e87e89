import * as z from "zod";

/** A task as a job planned it: enough to tell a changed task from the one that was measured. */
export const EvaluatedTask = z.object({
  name: z.string(),
  digest: z.string(),
  /** Of its build context; null for a prebuilt image, and unknown in files that lack it. */
  context_digest: z.string().nullable().default(null),
});
export type EvaluatedTask = z.infer<typeof EvaluatedTask>;

/**
 * evaluation.json: what a job was asked to do (spec 3.2, 14). Written when the job folder is made and
 * replaced only when a resume asks for something else. The trials stay the truth: a job whose
 * evaluation.json is lost is resumed from the digests in its results (failures C-12).
 *
 * Reading is lenient: files by BenchFlow lack the digest, its settings and the task list, and are
 * then never resumed into.
 */
export const Evaluation = z.looseObject({
  kind: z.string().optional(),
  schema_version: z.int().optional(),
  /** As it was typed, so that a published job names no folder of the machine that ran it. */
  tasks_dir: z.string(),
  /** BenchFlow's EvaluationConfig fields; environment values are never among them. */
  config: z.record(z.string(), z.json()).default({}),
  settings_digest: z.string().nullable().default(null),
  /** What the digest was taken of, for messages that say which setting differs. */
  settings: z.record(z.string(), z.json()).default({}),
  tasks: z.array(EvaluatedTask).nullable().default(null),
  /** First start of the job. What is no time reads as unknown. */
  created_at_utc: z.iso.datetime().nullable().default(null).catch(null),
  /** The pot of money that the job's command draws from (design 8); a damaged name never reads as none. */
  pot: z
    .string()
    .regex(/^[\w.@-]{1,200}$/u)
    .nullable()
    .default(null),
});
export type Evaluation = z.infer<typeof Evaluation>;

export const EVALUATION_KIND = "benchflow.evaluation";
