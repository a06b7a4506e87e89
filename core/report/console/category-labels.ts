import type { Fault, Unscored } from "../../model/outcome.ts";

/** What a person reads about a kind of failure, and the one thing to do about it. */
interface CategoryText {
  readonly label: string;
  readonly next: string;
}

const AGAIN = "run the same command again: it keeps what has a score and runs the rest";
const SEE_VERIFIER =
  "read the trial's verifier/test-stdout.txt, then `bench tasks check --controls`";

const TEXTS: Record<Unscored["category"], CategoryText> = {
  idle_timeout: { label: "agent idle timeout", next: `raise --agent-idle-timeout, or ${AGAIN}` },
  install_failure: { label: "agent install failed", next: "read agent/install-stdout.txt" },
  pipe_closed: { label: "agent connection closed", next: AGAIN },
  suspected_api_error: { label: "no model activity", next: "check the API key and its credit" },
  api_error: { label: "provider API errors", next: AGAIN },
  provider_auth: { label: "provider refused the login", next: "check the API key" },
  provider_rate_limit: { label: "provider rate limit", next: "lower -j, then run it again" },
  provider_rejected: { label: "provider rejected the request", next: "check -m and its options" },
  acp_error: { label: "agent protocol error", next: AGAIN },
  sandbox_setup: {
    label: "sandbox did not start",
    next: "`bench tasks check` shows what a task lacks, `bench doctor` what this machine does",
  },
  infra_failure: { label: "sandbox or network failed", next: AGAIN },
  timeout: { label: "agent ran out of time", next: "raise --timeout-multiplier" },
  usage_limit: {
    label: "subscription limit reached",
    next: "wait for it to reset, then run it again",
  },
  agent_integration: { label: "agent did nothing", next: "check the agent's login and model" },
  other: { label: "other error", next: "read error in the trial's result.json" },
  verifier_failure: { label: "verifier gave no valid reward", next: SEE_VERIFIER },
  verifier_infra: { label: "verifier could not be run", next: AGAIN },
  verifier_timeout: {
    label: "verifier timed out",
    next: "raise the task's verifier timeout, or --timeout-multiplier",
  },
  verifier_dep_install: { label: "verifier's dependencies failed to install", next: SEE_VERIFIER },
  verifier_other: { label: "verifier error", next: SEE_VERIFIER },
  budget_stopped: { label: "stopped by the budget", next: "raise the cap, then run it again" },
  usage_anomaly: {
    label: "stopped by a usage anomaly",
    next: "check the provider's figures in trajectory/requests.jsonl, then run it again",
  },
  interrupted: { label: "interrupted", next: AGAIN },
  no_verdict: { label: "no verdict", next: AGAIN },
  circuit_open: {
    label: "not tried after repeated failures",
    next: "fix the cause of the failures above, then run it again",
  },
  host_suspended: { label: "this computer slept", next: AGAIN },
};

/** The same command would find the same damage. */
const REFUSED: CategoryText = {
  label: "saved work cannot be verified again",
  next: "run the same command with --fresh: only a new attempt gives a score",
};

/** The same category, where the task's own Dockerfile is the reason and another try none. */
const UNBUILT: CategoryText = {
  label: "image cannot be built",
  next: "`bench tasks check` shows what a task lacks; a changed task is built again",
};

const FAULTS: Record<Fault, string> = {
  task: "task problem",
  agent: "agent problem",
  infrastructure: "infrastructure problem",
  setup: "setup problem",
  budget: "budget",
};

/**
 * Label, fault and next step of an unscored trial (spec 2.7). A verifier that fails on the agent's
 * workspace although it works on an untouched one is named apart (attack 32), and so is saved work that
 * no attempt can verify.
 */
export function describeUnscored(
  outcome: Unscored,
  verifyRefused = false,
): CategoryText & { readonly fault: string } {
  const fault = FAULTS[outcome.fault];
  if (verifyRefused) return { ...REFUSED, fault };
  const isUnbuilt = outcome.category === "sandbox_setup" && outcome.fault === "task";
  const { label, next } = isUnbuilt ? UNBUILT : TEXTS[outcome.category];
  if (!outcome.afterAgent) return { label, next, fault };
  return { label: `${label} after the agent's work`, next, fault };
}
