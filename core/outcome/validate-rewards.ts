import type { Rewards } from "../model/outcome.ts";
import type { AggregatePolicy } from "../model/task.ts";
import { aggregateRewards, isJsonObject, parseAggregatePolicy } from "./aggregate-rewards.ts";
import type { JsonObject, JsonValue } from "./parse-strict-json.ts";
import { formatPythonFloat } from "./python-float.ts";

export interface RewardRules {
  /** The task's range: at least [0, 1], which it may only widen. */
  readonly range: readonly [number, number];
  readonly lenient: boolean;
  /** A policy that the verifier's document declares, for files that carry none of their own. */
  readonly aggregatePolicy: AggregatePolicy | null;
}

export interface ValidRewards {
  readonly rewards: Rewards;
  readonly warnings: readonly string[];
  /** The reward was computed from metrics and stands in no file. */
  readonly computed: boolean;
}

type Result<T> = { readonly ok: T } | { readonly refused: string };

/** Keys whose values are evidence, kept untouched and never read as numbers (spec 6.7). */
const EVIDENCE_KEYS: ReadonlySet<string> = new Set([
  ..."artifacts debug details details_path errors evidence items metadata".split(" "),
  ..."participants raw reason reasons regressions winner".split(" "),
]);
const SPACES = new Set<JsonValue>(["output", "action", "reasoning", "memory", "latent"]);
const GRANULARITIES = new Set<JsonValue>(["terminal", "step"]);

/**
 * A reward.json object under the rules of spec 6.7. Strict refuses the whole map for one bad key;
 * lenient drops bad keys with a warning and lets `score` or `rewards` stand in for `reward`. The
 * value of reward.txt is taken only for a map that has no reward, no aggregate, and lost no key.
 */
export function validateRewards(
  object: JsonObject,
  textReward: number | null,
  rules: RewardRules,
): Result<ValidRewards> {
  const own = object["reward"];
  if (own !== undefined && !rules.lenient && !isInRange(own, rules.range))
    return { refused: missing(`between ${formatRange(rules.range)}`) };

  const kept: [string, JsonValue][] = [];
  const dropped: string[] = [];
  for (const [key, value] of Object.entries(object)) {
    const checked = checkKey(key, value, rules);
    if ("refused" in checked && !rules.lenient) return checked;
    if ("refused" in checked) dropped.push(key);
    else {
      kept.push([key, checked.ok.value]);
      dropped.push(...checked.ok.dropped);
    }
  }
  const warnings =
    dropped.length > 0 ? [`reward JSON keys dropped: ${dropped.map(quoteName).join(", ")}`] : [];
  const found = findReward(kept, { rules, textReward, complete: dropped.length === 0 });
  if ("refused" in found) return found;
  const { reward, computed, used } = found.ok;
  const rest = kept.filter(([key]) => key !== used);
  return { ok: { rewards: { ...Object.fromEntries(rest), reward }, warnings, computed } };
}

interface FoundReward {
  readonly reward: number;
  readonly computed: boolean;
  /** The key that stood in for `reward` and is no metric any more. */
  readonly used: string | null;
}

function findReward(
  kept: readonly (readonly [string, JsonValue])[],
  context: { rules: RewardRules; textReward: number | null; complete: boolean },
): Result<FoundReward> {
  const { rules, textReward, complete } = context;
  const values = new Map(kept);
  const own = values.get("reward");
  if (typeof own === "number") return { ok: { reward: own, computed: false, used: null } };
  for (const stand of rules.lenient ? ["score", "rewards"] : []) {
    const value = values.get(stand);
    const reward = isJsonObject(value) ? value["reward"] : value;
    if (typeof reward === "number") return { ok: { reward, computed: false, used: stand } };
  }
  const metrics = numericMetrics(values);
  const policy = declaredPolicy(values, rules);
  if ("refused" in policy) return policy;
  if (policy.ok !== null && metrics.size > 0) {
    const total = aggregateRewards(metrics, policy.ok);
    if ("refused" in total) return { refused: `reward JSON ${total.refused}` };
    return isInRange(total.ok, rules.range)
      ? { ok: { reward: total.ok, computed: true, used: null } }
      : { refused: missing(`between ${formatRange(rules.range)}`) };
  }
  if (textReward !== null && policy.ok === null && complete)
    return { ok: { reward: textReward, computed: false, used: null } };
  return { refused: missing("or aggregate policy for multi-metric rewards") };
}

function declaredPolicy(
  values: ReadonlyMap<string, JsonValue>,
  rules: RewardRules,
): Result<AggregatePolicy | null> {
  const declared = values.get("aggregate");
  return declared === undefined ? { ok: rules.aggregatePolicy } : parseAggregatePolicy(declared);
}

/** The `metrics` object where there is one, else the numbers at the top. */
function numericMetrics(values: ReadonlyMap<string, JsonValue>): Map<string, number> {
  const declared = values.get("metrics");
  const source = isJsonObject(declared) ? Object.entries(declared) : values;
  const metrics = new Map<string, number>();
  for (const [name, value] of source) if (typeof value === "number") metrics.set(name, value);
  return metrics;
}

interface CheckedKey {
  readonly value: JsonValue;
  /** Names inside the value that lenient mode took away. */
  readonly dropped: readonly string[];
}

function checkKey(key: string, value: JsonValue, rules: RewardRules): Result<CheckedKey> {
  if (EVIDENCE_KEYS.has(key)) return keep(value);
  if (key === "metrics") return checkMetrics(value, rules);
  if (key === "rubric") return checkRubric(value);
  if (key === "space" || key === "granularity")
    return fits(key, value) ? keep(value) : { refused: invalid("reward value", key) };
  if (key === "aggregate") {
    const policy = parseAggregatePolicy(value);
    return "ok" in policy ? keep(value) : { refused: `reward JSON ${policy.refused}` };
  }
  if (isInRange(value, rules.range)) return keep(value);
  const standIn = rules.lenient && key === "rewards" && isJsonObject(value);
  if (standIn && isInRange(value["reward"], rules.range)) return keep(value);
  return { refused: invalid("reward value", key) };
}

function checkMetrics(value: JsonValue, rules: RewardRules): Result<CheckedKey> {
  if (!isJsonObject(value)) return { refused: invalid("reward value", "metrics") };
  const kept: [string, JsonValue][] = [];
  const dropped: string[] = [];
  for (const [name, metric] of Object.entries(value)) {
    if (isInRange(metric, rules.range)) kept.push([name, metric]);
    else if (rules.lenient) dropped.push(`metrics.${name}`);
    else return { refused: invalid("metric value", name) };
  }
  return { ok: { value: Object.fromEntries(kept), dropped } };
}

/** Rubric scores lie in [0, 1] whatever the task's range. */
function checkRubric(value: JsonValue): Result<CheckedKey> {
  if (!isList(value)) return { refused: invalid("reward value", "rubric") };
  const bad = value.findIndex((item) => !isRubricItem(item));
  return bad === -1 ? keep(value) : { refused: invalid("rubric item", String(bad)) };
}

function isRubricItem(item: JsonValue): boolean {
  return (
    isJsonObject(item) &&
    isInRange(item["score"], [0, 1]) &&
    ["space", "granularity"].every((key) => fits(key, item[key]))
  );
}

function fits(key: string, value: JsonValue | undefined): boolean {
  return value === undefined || (key === "space" ? SPACES : GRANULARITIES).has(value);
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function keep(value: JsonValue): Result<CheckedKey> {
  return { ok: { value, dropped: [] } };
}

/** Whether a value is a finite number, not a boolean, inside the range, ends included. */
export function isInRange(
  value: JsonValue | undefined,
  [low, high]: readonly [number, number],
): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= low && value <= high;
}

export function formatRange([low, high]: readonly [number, number]): string {
  return `${formatPythonFloat(low)} and ${formatPythonFloat(high)}`;
}

function missing(what: string): string {
  return `reward JSON returned rewards without numeric 'reward': missing numeric 'reward' ${what}`;
}

function invalid(what: string, name: string): string {
  return `reward JSON returned rewards with invalid ${what} for ${quoteName(name)}`;
}

/** A name of the verifier's in a message: quoted, on one line, at most 100 characters. */
export function quoteName(name: string): string {
  const short = name.length > 100 ? `${name.slice(0, 99)}…` : name;
  // eslint-disable-next-line eslint/no-control-regex -- control characters are what is replaced
  return `'${short.replaceAll(/[\u0000-\u001f\u007f-\u009f]/gu, "?")}'`;
}
