import type { Outcome, Rewards } from "../model/outcome.ts";
import { faultOfCategory } from "./fault-of-category.ts";
import { describeValue, oneLine } from "./describe-value.ts";
import { limitOf, readErrorCategory, readVerifierCategory } from "./readable-result.ts";
import type { ReadableResult } from "./readable-result.ts";

/** The rewards of a file, when its `reward` is a finite number; else why it is not one. */
export type FoundRewards =
  | { readonly kind: "valid"; readonly rewards: Rewards }
  | { readonly kind: "none" }
  | { readonly kind: "invalid"; readonly reason: string };

export function findRewards(file: ReadableResult): FoundRewards {
  if (file.rewards === null || file.rewards === undefined) return { kind: "none" };
  const reward = file.rewards["reward"];
  if (typeof reward === "number" && Number.isFinite(reward)) {
    return { kind: "valid", rewards: { ...file.rewards, reward } };
  }
  return {
    kind: "invalid",
    reason: `rewards.reward is ${describeValue(reward)}, not a finite number`,
  };
}

/**
 * The outcome of a result.json that does not carry one: BenchFlow's score view (spec 2.2), reward
 * before error before verifier error. A reward that is not a number is the verifier's failure and
 * is never read as 0.
 */
export function deriveOutcome(file: ReadableResult, found: FoundRewards): Outcome {
  const failed = file.error ?? null;
  if (found.kind === "valid") {
    const category = failed === null ? null : readErrorCategory(file.error_category);
    const { reward } = found.rewards;
    return { kind: "scored", reward, passed: reward === 1, limit: limitOf(category) };
  }
  const verifierError = file.verifier_error ?? null;
  if (failed !== null) return unscored(file, readErrorCategory(file.error_category), failed);
  if (verifierError !== null) {
    return unscored(file, readVerifierCategory(file.verifier_error_category), verifierError);
  }
  if (found.kind === "invalid") return unscored(file, "verifier_failure", found.reason);
  return unscored(file, "no_verdict", "the verifier gave no reward and no error");
}

function unscored(
  file: ReadableResult,
  category: Parameters<typeof faultOfCategory>[0] | "no_verdict",
  text: string,
): Outcome {
  const hints = {
    processExitCode: file.transport_error_info?.process_exit_code ?? null,
    integrationCause: file.integration_failure_info?.cause ?? null,
  };
  return {
    kind: "unscored",
    // The contract names no fault for a missing verdict; the verifier is the task's.
    fault: category === "no_verdict" ? "task" : faultOfCategory(category, hints),
    category,
    detail: oneLine(text, 300),
    phase: null,
    verifyOnly: false,
    afterAgent: false,
  };
}
