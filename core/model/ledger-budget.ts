import * as z from "zod";
import { LedgerUnit } from "./ledger-amount.ts";
import { Anomaly } from "./ledger-pot.ts";

const Figures = z.object({
  cost_usd: z.number().min(0),
  sandbox_seconds: z.number().min(0),
  tokens: z.int().min(0),
  rollouts: z.int().min(0),
});

/**
 * `budget` in summary.json and in the run summary (spec 5.5). The figures are those of the command's
 * one pot, over all its repeats, resumes and thrown-away attempts; the two lists are the job's own.
 */
export const BudgetSummary = z.object({
  caps: z.object({
    max_cost_usd: z.number().min(0).nullable(),
    max_sandbox_seconds: z.number().min(0).nullable(),
    max_tokens: z.int().min(0).nullable(),
    max_rollouts: z.int().min(0).nullable(),
  }),
  spent: Figures.extend({
    /** Attempts without a price, or charged all that they might have spent. */
    usd_unknown_trials: z.int().min(0),
    tokens_unknown_trials: z.int().min(0),
  }),
  stopped: z.boolean(),
  reason: z.string().nullable(),
  /** Trials that were running; they have no verdict. */
  cancelled: z.array(z.string()),
  not_started: z.array(z.string()),
  /** Ours: reserved by attempts that have not ended, or whose end is not proven. */
  held: Figures,
  /** Ours: figures above their reservation. */
  anomalies: z.array(Anomaly),
  /**
   * Ours: where trials did not start because what is left of a cap is less than one may need; in
   * millionths of a dollar, tokens or milliseconds.
   */
  next_trial: z.object({ unit: LedgerUnit, need: z.int().min(0), left: z.int().min(0) }).optional(),
});
export type BudgetSummary = z.infer<typeof BudgetSummary>;
