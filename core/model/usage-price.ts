import * as z from "zod";

/**
 * Prices in nano-dollars per million tokens, so that $0.0028 per million is the integer 2,800,000 and
 * no sum is ever rounded before its end.
 */
const Rate = z.int().min(0);

export const BucketRates = z.object({
  input: Rate,
  output: Rate,
  cacheRead: Rate,
  cacheWrite5m: Rate,
  cacheWrite1h: Rate,
});
export type BucketRates = z.infer<typeof BucketRates>;

/** A tier bills the whole call once its prompt, cached parts included, is longer than `above`. */
export const RateTable = z.object({
  base: BucketRates,
  tiers: z.array(z.object({ above: z.int().min(0), rates: BucketRates })),
});
export type RateTable = z.infer<typeof RateTable>;

/** What one model costs at one provider at one moment, and where that was read. */
export const PriceCard = z.object({
  provider: z.string(),
  /** The list's own name for the model; it may be shorter than the one asked for. */
  model: z.string(),
  /** For example `genai-prices@0.1.8`, or the name of the user's own price file. */
  source: z.string(),
  /** When the list was true, if it says so. */
  date: z.string().nullable(),
  urls: z.array(z.string()),
  now: RateTable,
  /** Tables that apply at some other moment within a day, for prices that change by the hour. */
  soon: z.array(RateTable),
  /** Nano-dollars for the call itself, beside its tokens. */
  perCall: Rate,
  contextTokens: z.int().positive().nullable(),
  maxOutputTokens: z.int().positive().nullable(),
  /** What is not certain about these prices, for the report. */
  caveats: z.array(z.string()),
});
export type PriceCard = z.infer<typeof PriceCard>;
