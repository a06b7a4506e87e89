import type { ErrorCategory, Fault, VerifierErrorCategory } from "../model/outcome.ts";

/**
 * Whose problem each category is when a result.json does not say (spec 2.7). Files by BenchFlow
 * carry a category only; ours carry the fault that was decided where the failure arose.
 */
const FAULTS: Record<ErrorCategory | VerifierErrorCategory, Fault> = {
  idle_timeout: "agent",
  install_failure: "infrastructure",
  pipe_closed: "infrastructure",
  suspected_api_error: "setup",
  api_error: "infrastructure",
  provider_auth: "setup",
  provider_rate_limit: "infrastructure",
  provider_rejected: "agent",
  acp_error: "agent",
  sandbox_setup: "infrastructure",
  infra_failure: "infrastructure",
  timeout: "agent",
  usage_limit: "setup",
  agent_integration: "agent",
  other: "infrastructure",
  verifier_failure: "task",
  verifier_infra: "infrastructure",
  verifier_timeout: "task",
  verifier_dep_install: "task",
  verifier_other: "task",
};

const INTEGRATION_CAUSES: Record<string, Fault> = {
  agent_auth: "setup",
  agent_model: "setup",
  agent_install: "infrastructure",
};

export interface FaultHints {
  /** Exit code of the agent's process, when it is known to have ended by itself. */
  readonly processExitCode: number | null;
  /** `integration_failure_info.cause` of newer BenchFlow versions. */
  readonly integrationCause: string | null;
}

export function faultOfCategory(
  category: ErrorCategory | VerifierErrorCategory,
  hints: FaultHints,
): Fault {
  if (category === "pipe_closed" && hints.processExitCode !== null) return "agent";
  if (category === "agent_integration" && hints.integrationCause !== null) {
    return INTEGRATION_CAUSES[hints.integrationCause] ?? "agent";
  }
  return FAULTS[category];
}
