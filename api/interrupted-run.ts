import { BenchError } from "../core/errors.ts";
import type { JobPlan, RunPlan } from "../core/model/plan.ts";
import type { EndedJob } from "./run-job.ts";

/**
 * What a stopped run says, over all its repeats: how many trials have a score now, and how many the
 * same command would go on with. A repeat that was not reached counts with what it keeps.
 */
export function interruptedRun(plan: RunPlan, ended: readonly EndedJob[]): BenchError {
  const repeats = plan.jobs.map((job) => {
    const reached = ended.find((one) => one.job.repeat === job.repeat);
    return reached === undefined ? unreached(job) : carriedOut(reached);
  });
  const sum = (pick: (repeat: Repeat) => number): number =>
    repeats.reduce((total, repeat) => total + pick(repeat), 0);
  const planned = sum((repeat) => repeat.planned);
  const scored = sum((repeat) => repeat.scored);
  const left = planned - scored - sum((repeat) => repeat.blocked);
  const trials = left === 1 ? "1 trial is" : `${left} trials are`;
  return new BenchError("interrupted", `stopped; ${scored} of ${planned} trials have a score`, {
    next: `the same command resumes, ${trials} left`,
  });
}

interface Repeat {
  readonly planned: number;
  readonly scored: number;
  /** Neither scored nor run again until a person has looked. */
  readonly blocked: number;
}

function unreached(job: JobPlan): Repeat {
  return { ...planOf(job), scored: job.trials.filter(({ action }) => action === "keep").length };
}

function carriedOut({ job, tree }: EndedJob): Repeat {
  const scored = tree.trials.trials.filter(({ record }) => record.outcome.kind === "scored");
  return { ...planOf(job), scored: scored.length };
}

function planOf({ trials }: JobPlan): Pick<Repeat, "planned" | "blocked"> {
  const blocked = trials.filter(({ action }) => action === "blocked").length;
  return { planned: trials.length, blocked };
}
