import type { TrialRecord } from "../../../core/model/record.ts";
import type { JobSummary } from "../../../core/model/summary.ts";
import type { PlannedMeasurement } from "../../../core/results/group-trials.ts";
import { summarizeJob } from "../../../core/results/summarize-job.ts";
import type { JobEvidence, JobFacts } from "../../../core/results/summarize-job.ts";

export const FACTS: JobFacts = {
  jobName: "2026-11-04__18-24-21",
  agent: "claude-agent-acp",
  model: "xiaomi/mimo-v2.6-flash",
  environment: "docker",
  concurrency: 3,
  agentIdleTimeoutSec: 600,
};

/** A plan of these tasks that knows no digests. */
export function planOf(...names: readonly string[]): PlannedMeasurement {
  const tasks = names.map((name) => ({ name, digest: null, contextDigest: null }));
  return { settingsDigest: null, tasks };
}

/** The summary of a job with these attempts, which does not know what it planned. */
export function summarize(
  records: readonly TrialRecord[],
  rest: Partial<JobEvidence> = {},
): JobSummary {
  return summarizeJob(FACTS, {
    planned: null,
    quarantined: [],
    killedAttempts: 0,
    ...rest,
    records,
  });
}
