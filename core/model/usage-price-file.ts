import * as z from "zod";

const UsdPerMillion = z.number().min(0).max(1_000_000);

const Prices = {
  input: UsdPerMillion,
  output: UsdPerMillion,
  cache_read: UsdPerMillion.optional(),
  cache_write_5m: UsdPerMillion.optional(),
  cache_write_1h: UsdPerMillion.optional(),
};

/** What one model costs, and what it can hold where that is known. */
export const PriceEntry = z.strictObject({
  ...Prices,
  /** Prices of calls whose prompt is longer than `input_tokens`. */
  above: z.array(z.strictObject({ input_tokens: z.int().positive(), ...Prices })).default([]),
  per_call_usd: z.number().min(0).max(1000).default(0),
  context_tokens: z.int().positive().nullable().default(null),
  max_output_tokens: z.int().positive().nullable().default(null),
});

/**
 * A user's own prices (`--prices FILE`), in US dollars per million tokens, one entry per model as it
 * is given to `-m`. Unknown keys are refused: a misspelt price would otherwise be no price.
 */
export const PriceFile = z.strictObject({
  version: z.literal(1),
  /** Where the prices come from: a page, a contract. */
  source: z.string().min(1),
  date: z.iso.date(),
  prices: z.record(z.string().min(1), PriceEntry),
});
export type PriceFile = z.infer<typeof PriceFile>;
