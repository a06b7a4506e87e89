import type { ErrorCategory, Outcome } from "../model/outcome.ts";
import { isRetryable } from "../outcome/retryable.ts";

/** A run of trials that failed alike. Plain data: it can be kept with a run and shared by runners. */
export interface BreakerState {
  /** What the last trials failed with; null when the last one did not fail so. */
  readonly fingerprint: string | null;
  readonly streak: number;
  /** Streak that opens it; 0 never does. */
  readonly threshold: number;
  /** Once open it stays open, whatever still runs and ends well. */
  readonly isOpen: boolean;
}

export function closedBreaker(threshold: number): BreakerState {
  return { fingerprint: null, streak: 0, threshold, isOpen: false };
}

/**
 * The breaker after one more trial ended for good (spec 2.6): as many permanent failures in a row as
 * the threshold, all with one fingerprint, open it, and trials that have not started then end as
 * `circuit_open`. Any other ending starts the count again; so does a provider's failure of the
 * passing kind (`transient`).
 */
export function afterTrial(
  state: BreakerState,
  outcome: Outcome,
  { transient = false } = {},
): BreakerState {
  if (state.isOpen) return state;
  const fingerprint = transient ? null : fingerprintOf(outcome);
  if (fingerprint === null) return { ...state, fingerprint: null, streak: 0 };
  const streak = fingerprint === state.fingerprint ? state.streak + 1 : 1;
  const isOpen = state.threshold > 0 && streak >= state.threshold;
  return { ...state, fingerprint, streak, isOpen };
}

/** The contract's words for a trial that an open breaker kept from starting. */
export function breakerMessage({ fingerprint, streak }: BreakerState): string {
  return `skipped: api-error circuit breaker open ([${fingerprint ?? ""}] x${streak} consecutive)`;
}

const FINGERPRINTS = new Map<string, string>([
  ["provider_auth", "auth"],
  ["provider_rate_limit", "rate_limit"],
  ["provider_rejected", "rejected"],
  ["api_error", "api"],
  ["suspected_api_error", "suspected:zero_signal"],
  ["usage_limit", "usage_limit"],
  ["agent_integration", "integration"],
  ["install_failure", "install"],
] satisfies [ErrorCategory, string][]);

/** Failures that every later trial would meet too; what a task or a machine did is not among them. */
function fingerprintOf(outcome: Outcome): string | null {
  if (outcome.kind === "scored") return null;
  const word = FINGERPRINTS.get(outcome.category) ?? null;
  // An install that failed in every attempt is as permanent as a refused key.
  const isPermanent = outcome.category === "install_failure" || !isRetryable(outcome);
  return word !== null && isPermanent ? word : null;
}
