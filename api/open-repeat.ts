import type { JobPlan, RunPlan } from "../core/model/plan.ts";
import { chooseJob } from "../core/plan/choose-job.ts";
import { evaluationFile } from "../core/plan/evaluation-file.ts";
import { isAutomaticJobName } from "../core/plan/job-name.ts";
import { planJob } from "../core/plan/plan-job.ts";
import { readEvaluation, readJobsFolder } from "../core/plan/read-earlier-jobs.ts";
import type { ScoreSettings } from "../core/plan/settings-digest.ts";
import type { JobFolder, OpenJobRequest, StartClaim } from "../core/ports/job-store.ts";
import type { RunDeps, RunWorld } from "./run-deps.ts";

/** A repeat whose job stands on disk, under a lease of ours. */
export interface OpenedJob {
  readonly planned: JobPlan;
  readonly folder: JobFolder;
}

/** What decides which jobs a run goes on with. */
export interface JobSearch {
  readonly plan: RunPlan;
  readonly score: ScoreSettings;
}

/** Claims the start of a run: nobody else then makes a job, or a pot, for the same settings. */
export async function claimStart(
  { settingsDigest }: Pick<RunPlan, "settingsDigest">,
  { store, signal }: Pick<RunWorld, "store" | "signal">,
): Promise<StartClaim> {
  return await store.claimStart(settingsDigest.slice(-32), signal);
}

/**
 * A repeat as it stands under the claim: where it was to be a new job, another command with the same
 * settings may have made one since the plan, and is gone on with then.
 */
export async function lookAgain(
  planned: JobPlan,
  { plan: { settings, settingsDigest, tasks }, score }: JobSearch,
  { store }: Pick<RunWorld, "store">,
): Promise<JobPlan> {
  if (planned.resumed) return planned;
  const { repeat, jobsDir, jobName: newJobName } = planned;
  const jobs = await readJobsFolder(store, jobsDir, { settings, settingsDigest });
  const choice = chooseJob({ settings, score, settingsDigest, jobs, newJobName });
  if (choice.kind === "new") return planned;
  const { job: earlier } = choice;
  const { jobName } = earlier;
  return planJob({ repeat, jobsDir, jobName, settingsDigest, tasks, earlier }).job;
}

/**
 * Opens the job of a repeat. A new one is made under the claim, held until it stands: two commands that
 * are between two repeats at once would run, and pay for, the next one twice.
 */
export async function openRepeat(
  planned: JobPlan,
  search: JobSearch,
  deps: RunDeps,
): Promise<OpenedJob> {
  if (planned.resumed) return await openPlanned(planned, search.plan, deps);
  const claim = await claimStart(search.plan, deps);
  try {
    return await openPlanned(await lookAgain(planned, search, deps), search.plan, deps);
  } finally {
    await claim.release();
  }
}

export async function openPlanned(
  planned: JobPlan,
  plan: RunPlan,
  deps: RunDeps,
): Promise<OpenedJob> {
  const folder = await deps.store.openJob(await openRequest(plan, planned, deps));
  return { planned, folder };
}

/** evaluation.json of a resumed job keeps its first start, so that a resume that changes nothing writes nothing. */
async function openRequest(plan: RunPlan, job: JobPlan, deps: RunDeps): Promise<OpenJobRequest> {
  const { jobsDir, jobName } = job;
  const earlier = job.resumed ? await readEvaluation(deps.store, { jobsDir, jobName }) : null;
  const recorded = earlier?.created_at_utc ?? null;
  const createdAt = recorded === null ? deps.clock.now() : new Date(recorded);
  const automatic = plan.settings.jobName === null && isAutomaticJobName(jobName);
  // A pot that a job once drew from stays named, also by a command that spends nothing.
  const pot = deps.spend?.pot ?? earlier?.pot ?? null;
  const mode = job.resumed ? "resume" : automatic ? "new-automatic" : "new";
  return { jobsDir, jobName, mode, evaluation: evaluationFile(plan, job, createdAt, pot) };
}
