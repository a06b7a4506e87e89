import { basename } from "node:path";
import type { RunSummary } from "../core/model/run-summary.ts";
import { evaluateGate, exitCodeOf, summarizeRun } from "../core/results/summarize-run.ts";
import type { EndedRun } from "./run-benchmark.ts";

/** The run summary of `--summary-out` (spec 12.4), its gate and its exit code included. */
export function summarizeEndedRun({ plan, jobs, budget }: EndedRun): RunSummary {
  const ended = jobs.map(({ job, jobDir, tree, reused, ran }) => ({
    jobDir,
    jobName: basename(jobDir),
    repeat: job.repeat,
    trials: tree.trials,
    reused,
    ran,
  }));
  const gate = evaluateGate(ended, plan.settings);
  return summarizeRun(ended, {
    runName: basename(plan.settings.jobsDir),
    gate,
    exitCode: exitCodeOf(ended, gate),
    budget,
  });
}
