import * as z from "zod";
import { MixedImage, SolveRates } from "./summary.ts";

const Count = z.int().min(0);

/** One repeat of one agent (spec 4.2). */
export const MatrixRun = z.object({
  alias: z.string(),
  errored: Count,
  failed: Count,
  jobs_dir: z.string(),
  passed: Count,
  total: Count,
  trial: z.int().min(1),
  verifier_errored: Count,
});
export type MatrixRun = z.infer<typeof MatrixRun>;

/**
 * matrix-summary.json at the jobs folder, rewritten after every repeat (spec 4.2). `matrix` is null
 * without a matrix file; `trials` is the number of repeats that were asked for.
 */
export const MatrixSummary = z.object({
  matrix: z.string().nullable(),
  /** Over all repeats; absent when there are none, as in BenchFlow's own files. */
  mixed_images: z.array(MixedImage).optional(),
  runs: z.array(MatrixRun),
  schema_version: z.literal(1),
  solve_rates: z.record(z.string(), SolveRates),
  trials: z.int().min(1),
});
export type MatrixSummary = z.infer<typeof MatrixSummary>;
