import type { JobPlan, RunPlan } from "../core/model/plan.ts";
import { planJob } from "../core/plan/plan-job.ts";
import { readEarlierJob } from "../core/plan/read-earlier-jobs.ts";
import type { JobFolder } from "../core/ports/job-store.ts";
import type { Agent } from "../runner/agents/agent.ts";
import type { OpenedJob } from "./open-repeat.ts";
import type { RunDeps } from "./run-deps.ts";
import { runTrials } from "./run-trials.ts";
import { type JobTree, writeJobFiles } from "./write-job-files.ts";

/** A repeat that ended: what its folder then says, and what this command did to it. */
export interface EndedJob {
  readonly job: JobPlan;
  readonly jobDir: string;
  readonly tree: JobTree;
  /** Trials kept from an earlier command. */
  readonly reused: number;
  /** Trials that ran in this one. */
  readonly ran: number;
  /** Seconds of this command. */
  readonly elapsedSec: number;
}

/**
 * Carries out one repeat under its lease: plans again with what the folder really holds, runs what is
 * to run, and writes the job's files from the tree alone, also when the run is stopped in between.
 */
export async function runJob(
  plan: RunPlan,
  { planned, folder }: OpenedJob,
  agent: Agent,
  deps: RunDeps,
): Promise<EndedJob> {
  const startedMs = deps.clock.monotonicMs();
  try {
    const job = await planUnderLease(plan, planned, folder, deps);
    deps.onEvent({ type: "job-started", job, jobDir: folder.dir });
    const notStarted = new Set<string>();
    const outlet = { folder, store: deps.store, spend: deps.spend, notStarted };
    const carryOut = deps.carryOut ?? runTrials;
    const ran = await carryOut({ plan, job, folder, agent, deps, notStarted }).catch(
      async (error: unknown) => {
        // What ended before a stop is in the summary too.
        if (!folder.lost.aborted) await writeJobFiles(plan, job, outlet);
        throw error;
      },
    );
    const tree = await writeJobFiles(plan, job, outlet);
    const reused = job.trials.filter(({ action }) => action === "keep").length;
    const elapsedSec = (deps.clock.monotonicMs() - startedMs) / 1000;
    const ended: EndedJob = { job, jobDir: folder.dir, tree, reused, ran, elapsedSec };
    const { trials, budget } = tree;
    const { dir: jobDir } = folder;
    deps.onEvent({ type: "job-ended", job, jobDir, trials, reused, ran, elapsedSec, budget });
    return ended;
  } finally {
    await folder.close();
  }
}

/** Another process may have worked in the folder between the plan and the lease. */
async function planUnderLease(
  plan: RunPlan,
  planned: JobPlan,
  folder: JobFolder,
  deps: RunDeps,
): Promise<JobPlan> {
  const { jobsDir, jobName } = folder;
  if (!planned.resumed) return { ...planned, jobName };
  const earlier = await readEarlierJob(deps.store, { jobsDir, jobName });
  const { job, warnings } = planJob({
    repeat: planned.repeat,
    jobsDir,
    jobName,
    settingsDigest: plan.settingsDigest,
    tasks: plan.tasks,
    earlier,
  });
  const isNews = (warning: string): boolean => !plan.warnings.includes(warning);
  for (const message of warnings.filter(isNews)) deps.onEvent({ type: "warning", message });
  return job;
}
