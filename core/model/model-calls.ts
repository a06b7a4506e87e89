import * as z from "zod";

const Count = z.int().min(0);

/** Tokens in the five disjoint buckets, as result.json spells them; `input` is what no cache touched. */
export const BucketCounts = z.object({
  input: Count,
  output: Count,
  cache_read: Count,
  cache_write_5m: Count,
  cache_write_1h: Count,
});
export type BucketCounts = z.infer<typeof BucketCounts>;

/**
 * Whether an attempt's cost is known: `reserved`, some calls are charged with all they might have cost;
 * `subscription`, a login paid for them, which reports no dollars.
 */
export const CostStatus = z.enum([
  "priced",
  "free",
  "reserved",
  "unpriced",
  "subscription",
  "none",
]);
export type CostStatus = z.infer<typeof CostStatus>;

/**
 * What an attempt asked of its models, from the proxy's own record (`model_calls` in result.json). One
 * row a request: trajectory/requests.jsonl.
 */
export const ModelCalls = z.object({
  requests: Count,
  /** Of the agent's main work: the others are titles, suggestions and the like. */
  main_requests: Count,
  /** Refused by the proxy itself. */
  refused: Count,
  /** Failed through the provider or the network, after the proxy's own tries. */
  failed: Count,
  /** Usage never came or cannot be believed: charged with all that was reserved. */
  incomplete: Count,
  anomalies: Count,
  /** How long requests were held back, for the pot or between tries; limits stood still meanwhile. */
  held_ms: z.number().min(0),
  /** Of calls whose usage came. */
  tokens: BucketCounts,
  /** A guess for those whose usage did not; never charged. Null where there are none. */
  estimate: BucketCounts.nullable(),
  cost_micro_usd: Count.nullable(),
  cost_status: CostStatus,
  price_sources: z.array(z.string()),
  served_models: z.array(z.string()),
});
export type ModelCalls = z.infer<typeof ModelCalls>;
