import type { RequestRow } from "../../core/model/exchange.ts";
import type { BucketCounts, CostStatus, ModelCalls } from "../../core/model/model-calls.ts";
import type { Usage } from "../../core/model/record.ts";
import {
  NO_TOKENS,
  addTokens,
  promptTokens,
  type TokenBuckets,
  totalTokens,
} from "../../core/model/usage-buckets.ts";
import { isFailedRow } from "../../core/outcome/judge-models.ts";
import type { ProxyTotals } from "../proxy/proxy-state.ts";

/** What a trial's requests came to. Counts are the proxy's; the rows tell the kinds. */
export function countCalls(rows: readonly RequestRow[], totals: ProxyTotals): ModelCalls {
  const estimates = rows.flatMap(({ estimate }) => estimate ?? []);
  return {
    requests: totals.requests,
    main_requests: rows.filter(({ purpose }) => purpose === "main").length,
    refused: totals.refused,
    failed: rows.filter(isFailedRow).length,
    incomplete: totals.incomplete,
    anomalies: totals.anomalies,
    held_ms: Math.round(totals.heldMs),
    tokens: countsOf(totals.tokens),
    estimate: estimates.length === 0 ? null : countsOf(sumOf(estimates)),
    cost_micro_usd: costStatusOf(rows) === "subscription" ? null : totals.costMicroUsd,
    cost_status: costStatusOf(rows),
    price_sources: distinct(rows.map(({ price_source: source }) => source)),
    served_models: distinct(rows.map(({ model_served: model }) => model)),
  };
}

/** The contract's figures (spec 9.5): input with its cache, null dollars where no price is known. */
export function usageOf(calls: ModelCalls, tokens: TokenBuckets): Usage {
  const usedNothing = totalTokens(tokens) === 0 && calls.incomplete === 0;
  const known = !["unpriced", "subscription", "none"].includes(calls.cost_status);
  const { cost_micro_usd: microUsd } = calls;
  return {
    inputTokens: promptTokens(tokens),
    outputTokens: tokens.output,
    cacheReadTokens: tokens.cacheRead,
    cacheCreationTokens: tokens.cacheWrite5m + tokens.cacheWrite1h,
    totalTokens: totalTokens(tokens),
    costUsd: known && !usedNothing && microUsd !== null ? microUsd / 1e6 : null,
    usageSource: "provider_response",
    priceSource: calls.price_sources.length === 0 ? null : calls.price_sources.join(", "),
  };
}

/** The least certain of the rows' states stands for all. */
function costStatusOf(rows: readonly RequestRow[]): CostStatus {
  const found = new Set(rows.map(({ cost_status: status }) => status));
  const order = ["unpriced", "subscription", "reserved", "priced", "free"] as const;
  return order.find((status) => found.has(status)) ?? "none";
}

function countsOf(tokens: TokenBuckets): BucketCounts {
  return {
    input: tokens.input,
    output: tokens.output,
    cache_read: tokens.cacheRead,
    cache_write_5m: tokens.cacheWrite5m,
    cache_write_1h: tokens.cacheWrite1h,
  };
}

function sumOf(all: readonly TokenBuckets[]): TokenBuckets {
  let sum = NO_TOKENS;
  for (const tokens of all) sum = addTokens(sum, tokens);
  return sum;
}

function distinct(values: readonly (string | null)[]): string[] {
  return [...new Set(values.flatMap((value) => value ?? []))].toSorted();
}
