import type { JobPlan, RunPlan } from "../model/plan.ts";
import type { PlannedMeasurement } from "./group-trials.ts";
import type { JobFacts } from "./summarize-job.ts";

/** What a job's summary says of how it was run, whoever writes it: the run itself or a cloud's aggregate. */
export function jobFactsOf(plan: RunPlan, jobName: string): JobFacts {
  const { settings } = plan;
  return {
    jobName,
    agent: settings.agent,
    model: settings.model,
    environment: settings.environment,
    concurrency: settings.concurrency,
    agentIdleTimeoutSec: settings.agentIdleTimeoutSec === 0 ? null : settings.agentIdleTimeoutSec,
    source: commonSource(plan),
  };
}

/** What a repeat was to measure: its trials' tasks at their versions, under the run's settings. */
export function measurementOf(plan: RunPlan, job: JobPlan): PlannedMeasurement {
  return {
    settingsDigest: plan.settingsDigest,
    tasks: job.trials.map(({ taskName, taskDigest, contextDigest }) => ({
      name: taskName,
      digest: taskDigest,
      contextDigest,
    })),
  };
}

function commonSource({ tasks }: RunPlan): RunPlan["tasks"][number]["source"] {
  const [first, ...others] = tasks.map(({ source }) => source);
  if (first === undefined || first === null) return null;
  const isSame = others.every(
    (source) => source?.resolvedSha === first.resolvedSha && source.repo === first.repo,
  );
  return isSame ? first : null;
}
