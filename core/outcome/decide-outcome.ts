import type { ErrorCategory, Fault, Limit, Outcome, Rewards, Unscored } from "../model/outcome.ts";
import { faultOfCategory } from "../results/fault-of-category.ts";
import { classifySandboxFailure } from "./classify-sandbox-failure.ts";
import type { AgentEnd, TrialEvidence, TrialStop, VerifierEvidence } from "./trial-evidence.ts";

/** From how many failures after one agent's work on a verifier's failure is put down to that workspace. */
export const AFTER_AGENT_FAILURES = 2;

/**
 * The outcome of one attempt (design 5, statistics D1). A valid reward is final whatever went wrong
 * beside it; without one the attempt is unscored with the fault of whatever prevented it, and no
 * reward is ever filled in. Some stops void even a reward, because what was graded is not the trial
 * that was planned: nothing more could be spent on it, its models failed, or the machine slept while it ran.
 */
export function decideOutcome(evidence: TrialEvidence): Outcome {
  const { verifier, stop, agent } = evidence;
  if (stop !== null && voidsRewards(stop)) return unscored(evidence, causeOfStop(stop));
  if (verifier.kind === "rewards") return scored(verifier.rewards, agent);
  return unscored(evidence, causeOf(evidence));
}

type Cause = Pick<Unscored, "fault" | "category" | "detail"> & {
  /** Only the verifier stands between this attempt and its score. */
  readonly verifierOnly: boolean;
};

function scored(rewards: Rewards, agent: AgentEnd): Outcome {
  return {
    kind: "scored",
    reward: rewards.reward,
    passed: rewards.reward === 1,
    limit: agent.kind === "limit" ? agent.limit : null,
  };
}

function unscored(evidence: TrialEvidence, cause: Cause): Outcome {
  const verifierFailed = evidence.verifier.kind === "error" && cause.verifierOnly;
  return {
    kind: "unscored",
    fault: cause.fault,
    category: cause.category,
    detail: cause.detail,
    phase: evidence.phase,
    verifyOnly: cause.verifierOnly && evidence.workspaceSaved,
    afterAgent:
      verifierFailed &&
      evidence.verifierWorksOnNop === true &&
      evidence.verifierFailures >= AFTER_AGENT_FAILURES,
  };
}

const VOIDING: ReadonlySet<TrialStop["kind"]> = new Set([
  "budget",
  "anomaly",
  "circuit-open",
  "models",
  "host-suspended",
]);

function voidsRewards(stop: TrialStop): boolean {
  return VOIDING.has(stop.kind);
}

/** What prevented the verdict, outermost first: a stop, an agent that never did its work, the verifier. */
function causeOf(evidence: TrialEvidence): Cause {
  const { agent, verifier, stop } = evidence;
  const worked = didItsWork(agent);
  if (stop !== null) {
    const cause = causeOfStop(stop);
    // The workspace of an agent that had ended survives a stop in the verifier's phase.
    return { ...cause, verifierOnly: worked && afterFreeze(evidence) && cause.verifierOnly };
  }
  if (!worked) return causeOfAgent(agent);
  if (verifier.kind === "error") return causeOfVerifier(verifier);
  return agent.kind === "completed" ? NO_VERDICT : causeOfAgent(agent);
}

const NO_VERDICT: Cause = {
  fault: "infrastructure",
  category: "no_verdict",
  detail: "the verifier did not run, and nothing says why",
  verifierOnly: true,
};

/**
 * Whether what lies in the workspace is the agent's own work, good or bad, as D1 grades it: it
 * ended, hit a limit, or failed by its own fault. Else only a new attempt measures anything.
 */
function didItsWork(agent: AgentEnd): boolean {
  if (agent.kind === "not-started") return false;
  if (agent.kind !== "error") return true;
  // An agent that was never integrated left nothing of its own to grade.
  return faultOfError(agent) === "agent" && agent.error.category !== "agent_integration";
}

function faultOfError(agent: Extract<AgentEnd, { kind: "error" }>): Fault {
  const hints = { processExitCode: agent.exitCode, integrationCause: null };
  return faultOfCategory(agent.error.category, hints);
}

function afterFreeze({ phase }: TrialEvidence): boolean {
  return phase === "verify" || phase === "collect" || phase === "end";
}

function causeOfAgent(agent: AgentEnd): Cause {
  const verifierOnly = didItsWork(agent);
  switch (agent.kind) {
    case "error": {
      const { category, message } = agent.error;
      return { fault: faultOfError(agent), category, detail: message, verifierOnly };
    }
    case "limit": {
      const category = agent.error?.category ?? categoryOfLimit(agent.limit);
      const detail = agent.error?.message ?? `the agent reached its ${agent.limit} limit`;
      return { fault: "agent", category, detail, verifierOnly };
    }
    case "not-started":
      return { ...NO_VERDICT, detail: "the agent never started", verifierOnly };
    case "completed":
      return NO_VERDICT;
  }
}

function categoryOfLimit(limit: Limit): ErrorCategory {
  if (limit === "wall-clock") return "timeout";
  return limit === "idle" ? "idle_timeout" : "other";
}

function causeOfVerifier(verifier: Extract<VerifierEvidence, { kind: "error" }>): Cause {
  const { category, message } = verifier.error;
  const fault = faultOfCategory(category, { processExitCode: null, integrationCause: null });
  return { fault, category, detail: message, verifierOnly: true };
}

function causeOfStop(stop: TrialStop): Cause {
  switch (stop.kind) {
    case "sandbox":
      return { ...classifySandboxFailure(stop.failure), detail: stop.message, verifierOnly: true };
    case "interrupted":
      return {
        fault: "infrastructure",
        category: "interrupted",
        detail: "the run was stopped before this trial ended",
        verifierOnly: true,
      };
    case "budget":
      return {
        fault: "budget",
        category: "budget_stopped",
        detail: stop.message,
        verifierOnly: false,
      };
    case "anomaly":
      return {
        fault: "budget",
        category: "usage_anomaly",
        detail: `the run was stopped, usage above its reservation: ${stop.message}`,
        verifierOnly: false,
      };
    case "models": {
      const { category, message: detail } = stop.error;
      const fault = faultOfCategory(category, { processExitCode: null, integrationCause: null });
      return { fault, category, detail, verifierOnly: false };
    }
    case "circuit-open":
      return {
        fault: "setup",
        category: "circuit_open",
        detail: stop.message,
        verifierOnly: false,
      };
    case "host-suspended":
      return {
        fault: "infrastructure",
        category: "host_suspended",
        detail: "this computer slept while the trial ran, so its limits measured nothing",
        verifierOnly: false,
      };
  }
}
