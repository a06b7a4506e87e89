import { VerifierErrorCategory } from "../model/outcome.ts";
import type { TrialRecord } from "../model/record.ts";

/**
 * What a trial counts as, everywhere: console, summary.json, matrix, run summary, exit code, results.
 * BenchFlow has two views that can disagree (spec 2.2); this is its score view. `stopped` trials
 * were cut off by a budget, an anomaly of another's usage or an interrupt and are no failures of anyone: they are left out of
 * `total` and shown in the coverage (design 12).
 */
export type TrialClass = "passed" | "failed" | "errored" | "verifier_errored" | "stopped";

export function classifyTrial({ outcome }: TrialRecord): TrialClass {
  if (outcome.kind === "scored") return outcome.passed ? "passed" : "failed";
  if (STOPPED.has(outcome.category)) return "stopped";
  return isVerifierCategory(outcome.category) ? "verifier_errored" : "errored";
}

const STOPPED: ReadonlySet<string> = new Set(["budget_stopped", "usage_anomaly", "interrupted"]);

/** The category of the agent's side of a trial, whether or not the trial is scored all the same. */
export function errorCategoryOf(record: TrialRecord): string | null {
  if (record.error !== null) return record.error.category;
  const { outcome } = record;
  return outcome.kind === "unscored" && classifyTrial(record) === "errored"
    ? outcome.category
    : null;
}

export function verifierCategoryOf(record: TrialRecord): string | null {
  if (record.verifierError !== null) return record.verifierError.category;
  const { outcome } = record;
  return outcome.kind === "unscored" && isVerifierCategory(outcome.category)
    ? outcome.category
    : null;
}

/** The agent used up its time, whatever its work was worth. */
export function ranOutOfTime(record: TrialRecord): boolean {
  const { outcome } = record;
  const limit = outcome.kind === "scored" ? outcome.limit : null;
  return limit === "wall-clock" || record.error?.category === "timeout";
}

/** The controls that no score counts, in the words of the Control column; null for any other agent. */
export function controlOf(agent: string): "oracle" | "empty" | null {
  if (agent === "oracle") return "oracle";
  return agent === "nop" ? "empty" : null;
}

const VERIFIER_CATEGORIES: ReadonlySet<string> = new Set(VerifierErrorCategory.options);

function isVerifierCategory(category: string): boolean {
  return VERIFIER_CATEGORIES.has(category);
}
