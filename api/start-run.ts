import { hasCaps } from "../core/ledger/caps.ts";
import type { JobPlan, RunPlan } from "../core/model/plan.ts";
import { interruptedRun } from "./interrupted-run.ts";
import {
  claimStart,
  type JobSearch,
  lookAgain,
  type OpenedJob,
  openPlanned,
} from "./open-repeat.ts";
import type { RunDeps } from "./run-deps.ts";
import type { RunModels } from "./run-models.ts";
import type { RunSpend, SpendOptions } from "./run-spend.ts";

/** A run whose first job stands on disk and names the pot. */
export interface StartedRun {
  readonly search: JobSearch;
  readonly deps: RunDeps;
  readonly first: OpenedJob;
}

/**
 * Chooses the pot and opens the first job, under a claim: the same command a moment later finds both,
 * and cannot open a second pot under the same cap. Throws `BenchError`: `usage` when another process
 * has the job, `interrupted` when it was stopped while it waited for the claim.
 */
export async function startRun(
  search: JobSearch,
  models: RunModels | null,
  deps: Omit<RunDeps, "spend">,
): Promise<StartedRun> {
  const claim = await claimStart(search.plan, deps).catch((error: unknown) => {
    throw deps.signal.aborted ? interruptedRun(search.plan, []) : error;
  });
  try {
    const plan = await planAgain(search, deps);
    const spend = await openSpend({ plan, models, world: deps });
    try {
      const [job] = plan.jobs;
      const first = await openPlanned(job, plan, { ...deps, spend });
      return { search: { ...search, plan }, deps: { ...deps, spend }, first };
    } catch (error) {
      await spend?.close();
      throw error;
    }
  } finally {
    await claim.release();
  }
}

type FirstPlan = RunPlan & { readonly jobs: readonly [JobPlan, ...JobPlan[]] };

/** Only the first repeat: its job names the pot, and each later one is looked for when its turn comes. */
async function planAgain(search: JobSearch, deps: Omit<RunDeps, "spend">): Promise<FirstPlan> {
  const [first, ...later] = search.plan.jobs;
  if (first === undefined) throw new Error("a plan without a job");
  return { ...search.plan, jobs: [await lookAgain(first, search, deps), ...later] };
}

/**
 * Null for a run that spends nothing anybody counts, one without models and without a cap: it does not
 * even load what counts.
 */
async function openSpend(options: SpendOptions): Promise<RunSpend | null> {
  if (options.models === null && !hasCaps(options.plan.settings)) return null;
  const { openRunSpend } = await import("./run-spend.ts");
  return await openRunSpend(options);
}
