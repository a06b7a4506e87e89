import * as z from "zod";
import { BudgetSummary } from "./ledger-budget.ts";

const Rates = z.object({ input: z.number().min(0), output: z.number().min(0) });

/** What `--dry-run --json` says of money; dollars, tokens and seconds. An unknown is null, never 0. */
export const RunMoney = z.object({
  caps: BudgetSummary.shape.caps.extend({ max_cost_per_trial_usd: z.number().min(0).nullable() }),
  /** The pot that the command would go on with; null for a new one. */
  pot: z
    .object({
      name: z.string(),
      /** The job that names it. */
      of_job: z.string(),
      spent: BudgetSummary.shape.spent,
      held: BudgetSummary.shape.held,
    })
    .nullable(),
  /** A job that would go on although nobody knows what it has spent; null for none. */
  uncounted_job: z.string().nullable(),
  /** One entry a model that the agent may call; none for a control. */
  prices: z.array(
    z.object({
      model: z.string(),
      /** The list that the price is from; null where the price is unknown. */
      source: z.string().nullable(),
      date: z.string().nullable(),
      /** Per million tokens, of a short prompt; null where the price is unknown. */
      usd_per_million: Rates.nullable(),
    }),
  ),
  /** Null for a run whose trials spend nothing that anybody counts. */
  trial: z
    .object({
      /** What a trial needs to start; dollars are null where the price is unknown. */
      starts_with: z.object({
        cost_usd: z.number().nullable(),
        tokens: z.int(),
        sandbox_seconds: z.number(),
      }),
      /** The most that one could use; null where nothing limits it, or nobody knows. */
      at_most: z.object({ cost_usd: z.number().nullable(), tokens: z.int().nullable() }),
      /** The flag that sets the limit in dollars; null for none. */
      limited_by: z.enum(["--max-cost-per-trial", "--max-cost-usd"]).nullable(),
    })
    .nullable(),
});
export type RunMoney = z.infer<typeof RunMoney>;
