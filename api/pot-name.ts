import type { RunPlan } from "../core/model/plan.ts";
import { readEvaluation } from "../core/plan/read-earlier-jobs.ts";
import type { RunWorld } from "./run-deps.ts";

/** A command's pot, and the job that it was found in; null for a new one. */
export interface NamedPot {
  readonly pot: string;
  readonly ofJob: string | null;
  /** A job that goes on under a new pot, since nothing says any more which one it drew from; null for none. */
  readonly uncounted: string | null;
}

/** The pot that a job which the command resumes names. */
export interface EarlierPot {
  readonly named: { readonly pot: string; readonly ofJob: string } | null;
  /** A job that goes on under a new pot, since nothing says any more which one it drew from; null for none. */
  readonly uncounted: string | null;
}

/**
 * The pot of a command: the one that a job which it resumes names, so that the same command goes on
 * with its own money; else a new one.
 */
export async function potOf(
  plan: RunPlan,
  { store, newHex8 }: Pick<RunWorld, "store" | "newHex8">,
): Promise<NamedPot> {
  const { named, uncounted } = await earlierPot(plan, store);
  if (named !== null) return { ...named, uncounted: null };
  const first = (plan.jobs[0]?.jobName ?? "run").replaceAll(/[^\w.@-]/gu, "_").slice(0, 100);
  return { pot: `${first}-${newHex8()}`, ofJob: null, uncounted };
}

export async function earlierPot(plan: RunPlan, store: RunWorld["store"]): Promise<EarlierPot> {
  let uncounted: string | null = null;
  for (const { resumed, jobsDir, jobName } of plan.jobs) {
    if (!resumed) continue;
    const evaluation = await readEvaluation(store, { jobsDir, jobName });
    const dir = `${jobsDir}/${jobName}`;
    if (evaluation === null) uncounted ??= dir;
    else if (evaluation.pot !== null)
      return { named: { pot: evaluation.pot, ofJob: dir }, uncounted: null };
  }
  return { named: null, uncounted };
}
