import type { JobPlan, RunPlan } from "../core/model/plan.ts";
import type { Task } from "../core/model/task.ts";
import type { AttemptSpec } from "../core/model/trial.ts";
import { DEFAULT_AGENT_TIMEOUT_SEC } from "../core/plan/settings-digest.ts";

export interface AttemptQuestion {
  readonly plan: RunPlan;
  readonly job: JobPlan;
  readonly task: Task;
  readonly attempt: number;
  readonly rolloutName: string;
  readonly verifyOnlyFrom: string | null;
  readonly earlierVerifierFailures: number;
  /** Identifies the command, in the owner labels of its sandboxes. */
  readonly runId: string;
}

/** One attempt of a planned trial as the runner gets it. Every time limit is resolved here and nowhere else. */
export function attemptSpec(question: AttemptQuestion): AttemptSpec {
  const { plan, job, task, attempt, rolloutName, verifyOnlyFrom, runId } = question;
  const { settings } = plan;
  const agentTimeoutSec = task.config.agent.timeoutSec ?? DEFAULT_AGENT_TIMEOUT_SEC;
  return {
    task,
    settingsDigest: plan.settingsDigest,
    attempt,
    rolloutName,
    jobName: job.jobName,
    runId,
    agent: settings.agent,
    model: settings.model,
    environment: settings.environment,
    agentTimeoutSec: agentTimeoutSec * settings.timeoutMultiplier,
    verifierTimeoutSec: task.config.verifier.timeoutSec * settings.timeoutMultiplier,
    idleTimeoutSec: settings.agentIdleTimeoutSec,
    lenientRewards: settings.lenientRewards,
    saveOutputs: settings.saveOutputs,
    verifyOnlyFrom,
    earlierVerifierFailures: question.earlierVerifierFailures,
  };
}
