import { join } from "node:path";
import type { RunPlan } from "../core/model/plan.ts";
import { renderMatrixSummary, summarizeMatrix } from "../core/results/summarize-matrix.ts";
import type { RunDeps } from "./run-deps.ts";
import type { EndedJob } from "./run-job.ts";

const NAME = "matrix-summary.json";

/** Replaces matrix-summary.json after every repeat, so that a stopped run has one too; returns its path. */
export async function writeMatrixSummary(
  plan: RunPlan,
  jobs: readonly EndedJob[],
  { store }: Pick<RunDeps, "store">,
): Promise<string> {
  const { agent, jobsDir, trials: repeats } = plan.settings;
  const ended = jobs.map(({ job, tree }) => ({
    alias: agent,
    repeat: job.repeat,
    jobsDir: job.jobsDir,
    trials: tree.trials,
  }));
  await store.write(jobsDir, NAME, renderMatrixSummary(summarizeMatrix(ended, repeats)));
  return join(jobsDir, NAME);
}
