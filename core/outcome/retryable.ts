import type { Outcome, Unscored } from "../model/outcome.ts";

type Category = Unscored["category"];

/** Spec 2.6, and for the categories of this edition what D1 says about running again. */
const RETRYABLE: Readonly<Record<Category, boolean>> = {
  install_failure: true,
  pipe_closed: true,
  idle_timeout: true,
  infra_failure: true,
  acp_error: true,
  sandbox_setup: true,
  api_error: false,
  timeout: false,
  provider_auth: false,
  provider_rate_limit: false,
  provider_rejected: false,
  suspected_api_error: false,
  usage_limit: false,
  agent_integration: false,
  other: false,
  verifier_infra: true,
  verifier_timeout: true,
  verifier_failure: false,
  verifier_dep_install: false,
  verifier_other: false,
  host_suspended: true,
  no_verdict: true,
  budget_stopped: false,
  usage_anomaly: false,
  circuit_open: false,
  interrupted: false,
};

/**
 * Whether the same run should make another attempt at once (spec 2.6). A scored outcome never is:
 * drawing a scored trial again would pick results. `transient` says that a provider's failure was
 * of the passing kind (429, 5xx), which alone makes an `api_error` worth another try.
 */
export function isRetryable(outcome: Outcome, { transient = false } = {}): boolean {
  if (outcome.kind === "scored") return false;
  // An image that its task's own files do not give, or that ends by itself: the same files do it again.
  if (outcome.category === "sandbox_setup" && outcome.fault === "task") return false;
  return RETRYABLE[outcome.category] || (outcome.category === "api_error" && transient);
}
