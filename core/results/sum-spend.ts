import type { TrialRecord, Usage } from "../model/record.ts";
import { exactSum, sumCounts } from "../stats/exact-sum.ts";

/**
 * What attempts cost, thrown away ones included. A sum is over those that know their number; null
 * when none does. What nobody counted is told beside it and never taken as 0 (spec 9.5).
 */
export interface Spend {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheCreationTokens: number | null;
  readonly totalTokens: number | null;
  readonly costUsd: number | null;
  readonly attempts: number;
  /** Attempts whose tokens nobody counted. */
  readonly uncountedAttempts: number;
  /** Attempts that used tokens, or may have, and have no price. */
  readonly unpricedAttempts: number;
}

/** `killed` is how many attempts beside these left no result, so that nobody counted them. */
export function sumSpend(attempts: readonly TrialRecord[], killed = 0): Spend {
  const made = attempts.length + killed;
  const usages = attempts.map((record) => record.usage);
  const sum = (pick: (usage: Usage) => number | null): number | null => {
    const known = usages.flatMap((usage) => pick(usage) ?? []);
    return known.length === 0 && made > 0 ? null : sumCounts(known);
  };
  const costs = usages.flatMap((usage) => costOf(usage) ?? []);
  return {
    inputTokens: sum((usage) => usage.inputTokens),
    outputTokens: sum((usage) => usage.outputTokens),
    cacheReadTokens: sum((usage) => usage.cacheReadTokens),
    cacheCreationTokens: sum((usage) => usage.cacheCreationTokens),
    totalTokens: sum((usage) => usage.totalTokens),
    costUsd: costs.length === 0 && made > 0 ? null : exactSum(costs),
    attempts: made,
    uncountedAttempts: usages.filter((usage) => usage.totalTokens === null).length + killed,
    unpricedAttempts: usages.filter((usage) => costOf(usage) === null).length + killed,
  };
}

/** What an attempt cost: 0 when it used no token, null when it did and nobody knows the price. */
export function costOf(usage: Usage): number | null {
  return usage.costUsd ?? (usage.totalTokens === 0 ? 0 : null);
}
