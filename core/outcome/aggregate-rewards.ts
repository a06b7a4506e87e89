import type { AggregatePolicy } from "../model/task.ts";
import type { JsonObject, JsonValue } from "./parse-strict-json.ts";

const DEFAULT_THRESHOLD = 0.7;
/** From which value on a metric counts as passed for `all_pass` and `any_pass`. */
const PASS_MARK = 0.5;

/** Reads an `aggregate` object of reward.json, or an `aggregate_policy` of verifier.md. */
export function parseAggregatePolicy(
  value: JsonValue,
): { readonly ok: AggregatePolicy } | { readonly refused: string } {
  if (!isJsonObject(value)) return { refused: "aggregate is not an object" };
  const { method, weights = null, threshold = DEFAULT_THRESHOLD, primary = "" } = value;
  if (typeof method !== "string") return { refused: "aggregate names no method" };
  if (typeof primary !== "string") return { refused: "aggregate primary is not a name" };
  if (typeof threshold !== "number" || !Number.isFinite(threshold))
    return { refused: "aggregate threshold is not a finite number" };
  const parsed = weights === null ? null : parseWeights(weights);
  if (typeof parsed === "string") return { refused: parsed };
  return { ok: { method, weights: parsed, threshold } };
}

function parseWeights(value: JsonValue): Record<string, number> | string {
  if (!isJsonObject(value)) return "aggregate weights is not an object";
  const weights: [string, number][] = [];
  for (const [name, weight] of Object.entries(value)) {
    if (typeof weight !== "number" || !Number.isFinite(weight) || weight < 0)
      return `aggregate weight of '${name}' is not a finite number of at least 0`;
    weights.push([name, weight]);
  }
  return Object.fromEntries(weights);
}

/**
 * One reward from at least one metric. Methods: `mean`, `weighted_mean`, `weighted_sum`, `all_pass`
 * and `any_pass` (a metric passes from 0.5 on), `threshold` (1 if the weighted mean reaches it).
 * Weights, if given, must name every metric and no other. `-` and `_` in a method are the same.
 */
export function aggregateRewards(
  metrics: ReadonlyMap<string, number>,
  policy: AggregatePolicy,
): { readonly ok: number } | { readonly refused: string } {
  const values = [...metrics.values()];
  const mean = weightedMean(metrics, policy);
  switch (policy.method.replaceAll("-", "_")) {
    case "mean":
      return { ok: sum(values) / values.length };
    case "all_pass":
      return { ok: values.every((value) => value >= PASS_MARK) ? 1 : 0 };
    case "any_pass":
      return { ok: values.some((value) => value >= PASS_MARK) ? 1 : 0 };
    case "weighted_mean":
      return mean;
    case "weighted_sum":
      return policy.weights === null
        ? { refused: "aggregate weighted_sum has no weights" }
        : weightedSum(metrics, policy);
    case "threshold":
      return "ok" in mean ? { ok: mean.ok >= policy.threshold ? 1 : 0 } : mean;
    default:
      return { refused: `aggregate method '${policy.method}' is unknown` };
  }
}

function weightedMean(
  metrics: ReadonlyMap<string, number>,
  policy: AggregatePolicy,
): { readonly ok: number } | { readonly refused: string } {
  const total = policy.weights === null ? metrics.size : sum(Object.values(policy.weights));
  const weighted = weightedSum(metrics, policy);
  if ("refused" in weighted) return weighted;
  return total > 0 && Number.isFinite(total)
    ? { ok: weighted.ok / total }
    : { refused: "aggregate weights add up to nothing" };
}

function weightedSum(
  metrics: ReadonlyMap<string, number>,
  policy: AggregatePolicy,
): { readonly ok: number } | { readonly refused: string } {
  const weights = policy.weights === null ? null : new Map(Object.entries(policy.weights));
  for (const name of weights?.keys() ?? [])
    if (!metrics.has(name)) return { refused: `aggregate weighs '${name}', which is no metric` };
  let total = 0;
  for (const [name, value] of metrics) {
    const weight = weights === null ? 1 : weights.get(name);
    if (weight === undefined) return { refused: `aggregate gives metric '${name}' no weight` };
    total += weight * value;
  }
  return { ok: total };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Whether a JSON value is an object, not a list and not null. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
