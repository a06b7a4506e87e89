import * as z from "zod";
import { BudgetSummary } from "./ledger-budget.ts";
import { FailOn } from "./settings.ts";
import { MixedImage } from "./summary.ts";

const Count = z.int().min(0);

/** What `--fail-under` and `--fail-on` asked for, and one line per check that failed. */
export const Gate = z.object({
  fail_on: z.array(FailOn),
  fail_under: z.number().nullable(),
  failed: z.array(z.string()),
});
export type Gate = z.infer<typeof Gate>;

const Counts = z.object({
  total: Count,
  passed: Count,
  failed: Count,
  errored: Count,
  verifier_errored: Count,
  /** Agents that ran out of time, scored or not. */
  timed_out: Count,
  /** passed / total; 0 when nothing counts, as the contract has a number here. */
  pass_rate: z.number().min(0).max(1),
  mean_reward: z.number().nullable(),
  /** Trials whose agent may have tampered with what judges it; their scores are as they are. */
  suspect: Count,
  /** Trials kept from an earlier command, and trials that ran now. */
  reused: Count,
  ran: Count,
});

/** One repeat of the run. */
export const RunJob = Counts.extend({
  job_dir: z.string(),
  job_name: z.string(),
  repeat: z.int().min(1),
  planned: Count,
  scored: Count,
});
export type RunJob = z.infer<typeof RunJob>;

/**
 * The file that `--summary-out` writes (spec 12.4). With several repeats the counts are totals over
 * all of them, `job_dir` is null, `job_name` names the run and `jobs` lists the repeats (design 12).
 */
export const RunSummary = z
  .object({
    kind: z.literal("benchflow.run-summary"),
    schema_version: z.literal(1),
    job_dir: z.string().nullable(),
    job_name: z.string(),
    ...Counts.shape,
    gate: Gate,
    exit_code: z.int(),
    budget: BudgetSummary.nullable(),
    planned: Count,
    scored: Count,
    jobs: z.array(RunJob),
    /** Over all repeats. */
    mixed_images: z.array(MixedImage),
  })
  .meta({ $id: "https://benchflow.ai/schemas/benchflow-run-summary.v1.schema.json" });
export type RunSummary = z.infer<typeof RunSummary>;
