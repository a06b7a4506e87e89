import * as z from "zod";

const Count = z.int().min(0);

/**
 * The tokens of one model call in the five buckets that providers price apart. Disjoint: `input` is
 * what was neither read from a cache nor written to one; `output` holds reasoning. Spec 9.5's
 * cache-inclusive input is `promptTokens`, and `promptTokens + output` is the total.
 */
export const TokenBuckets = z.object({
  input: Count,
  output: Count,
  cacheRead: Count,
  cacheWrite5m: Count,
  cacheWrite1h: Count,
});
export type TokenBuckets = z.infer<typeof TokenBuckets>;

export const BUCKETS = ["input", "output", "cacheRead", "cacheWrite5m", "cacheWrite1h"] as const;

export const NO_TOKENS: TokenBuckets = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
};

/** Everything the model was given: `n_input_tokens` of the contract. */
export function promptTokens(tokens: TokenBuckets): number {
  return tokens.input + tokens.cacheRead + tokens.cacheWrite5m + tokens.cacheWrite1h;
}

export function totalTokens(tokens: TokenBuckets): number {
  return promptTokens(tokens) + tokens.output;
}

export function addTokens(left: TokenBuckets, right: TokenBuckets): TokenBuckets {
  return {
    input: left.input + right.input,
    output: left.output + right.output,
    cacheRead: left.cacheRead + right.cacheRead,
    cacheWrite5m: left.cacheWrite5m + right.cacheWrite5m,
    cacheWrite1h: left.cacheWrite1h + right.cacheWrite1h,
  };
}
