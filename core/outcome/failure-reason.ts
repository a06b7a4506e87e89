import type { Outcome, Rewards, VerifierError } from "../model/outcome.ts";
import { formatPythonFloat } from "./python-float.ts";

/** How many metrics a reason names. */
const MAX_METRICS = 3;

export interface FailureFacts {
  readonly outcome: Outcome;
  readonly rewards: Rewards | null;
  readonly verifierError: VerifierError | null;
  /** `<name> failed: <message>` of the first failing CTRF test. */
  readonly firstFailedTest: string | null;
}

/**
 * Why a trial did not pass, in one line of the final block (spec 2.8): the verifier's error; the
 * reward with its three lowest metrics in the order in which the verifier wrote them; the reward
 * with the first failing test; the reward alone. A trial without a reward gives its outcome's detail.
 */
export function failureReason(facts: FailureFacts): string {
  const { outcome, rewards, verifierError, firstFailedTest } = facts;
  if (verifierError !== null) return verifierError.message;
  if (rewards === null) return outcome.kind === "unscored" ? outcome.detail : "no rewards";
  const reward = `reward ${formatPythonFloat(rewards.reward)}`;
  const metrics = lowestMetrics(rewards).map(({ text }) => text);
  if (metrics.length > 0) return `${reward} — ${metrics.join(", ")}`;
  return firstFailedTest === null ? reward : `${reward} — ${firstFailedTest}`;
}

interface ShownMetric {
  readonly text: string;
  readonly value: number;
}

function lowestMetrics(rewards: Rewards): readonly ShownMetric[] {
  const shown = showMetrics(numbersOf(rewards));
  const lowest = new Set(shown.toSorted((a, b) => a.value - b.value).slice(0, MAX_METRICS));
  return shown.filter((metric) => lowest.has(metric));
}

/** Every number of the map but the reward itself, those of `metrics` included. */
function numbersOf(rewards: Rewards): ReadonlyMap<string, number> {
  const nested = rewards["metrics"];
  const inner = typeof nested === "object" && nested !== null ? Object.entries(nested) : [];
  const numbers = new Map<string, number>();
  for (const [name, value] of [...Object.entries(rewards), ...inner])
    if (name !== "reward" && typeof value === "number") numbers.set(name, value);
  return numbers;
}

/** `<n>_found` and `<n>_total` make one fraction; every other number stands alone. */
function showMetrics(numbers: ReadonlyMap<string, number>): readonly ShownMetric[] {
  const shown: ShownMetric[] = [];
  for (const [name, value] of numbers) {
    const stem = /^(?<stem>.+)_(?:found|total)$/u.exec(name)?.groups?.["stem"] ?? "";
    const found = numbers.get(`${stem}_found`);
    const total = numbers.get(`${stem}_total`);
    if (found === undefined || total === undefined)
      shown.push({ text: `${name} ${formatPythonFloat(value)}`, value });
    else if (name.endsWith("_found"))
      shown.push({ text: `${stem} ${found}/${total}`, value: total === 0 ? 0 : found / total });
  }
  return shown;
}
