import type { JobPlan, RunPlan } from "../core/model/plan.ts";
import type { BudgetSummary } from "../core/model/ledger-budget.ts";
import type { Quarantined, TrialRecord } from "../core/model/record.ts";
import { readEarlierAttempt } from "../core/plan/read-earlier-jobs.ts";
import type { JobFolder, JobStore } from "../core/ports/job-store.ts";
import { readJobLines } from "../stores/job-reader/read-job-lines.ts";
import { groupTrials, type JobTrials } from "../core/results/group-trials.ts";
import type { BudgetLists, RunSpend } from "./run-spend.ts";
import { jobFactsOf, measurementOf } from "../core/results/job-facts.ts";
import { renderSummary, summarizeJob } from "../core/results/summarize-job.ts";

/** What a job's folder says at a moment. */
export interface JobTree {
  readonly records: readonly TrialRecord[];
  readonly trials: JobTrials;
  readonly quarantined: readonly Quarantined[];
  /** Of the command's pot; null where nobody counts. */
  readonly budget: BudgetSummary | null;
}

/** Where a job's own files go, and what they say of the command's money. */
export interface JobOutlet {
  readonly folder: JobFolder;
  readonly store: JobStore;
  readonly spend: RunSpend | null;
  /** Names of trials that the pot could not pay for in this command. */
  readonly notStarted: ReadonlySet<string>;
}

/** Reads every attempt of the job from its folder. */
export async function readJobTree(
  plan: RunPlan,
  job: JobPlan,
  folder: JobFolder,
): Promise<Omit<JobTree, "budget">> {
  const records: TrialRecord[] = [];
  const quarantined: Quarantined[] = [];
  let unfinished = 0;
  for await (const stored of folder.attempts()) {
    const attempt = readEarlierAttempt(stored);
    if (attempt.kind === "ended") records.push(attempt.record);
    if (attempt.kind === "unfinished") unfinished += 1;
    if (attempt.kind === "quarantined")
      quarantined.push({ path: stored.path, reason: attempt.reason });
  }
  // What a control used is known to be nothing.
  const unknown =
    plan.settings.model === null ? {} : { killed: unfinished, unreadable: quarantined.length };
  return { records, quarantined, trials: groupTrials(records, measurementOf(plan, job), unknown) };
}

/**
 * Writes the job's own files, each a function of the tree (design 9). Nothing is written when its
 * bytes stand there already, so a resume with nothing to do changes no file.
 */
export async function writeJobFiles(
  plan: RunPlan,
  job: JobPlan,
  { folder, store, spend, notStarted }: JobOutlet,
): Promise<JobTree> {
  const tree = await readJobTree(plan, job, folder);
  const budget = spend === null ? null : await spend.budget(budgetLists(tree.trials, notStarted));
  const summary = summarizeJob(jobFactsOf(plan, folder.jobName), {
    records: tree.records,
    planned: measurementOf(plan, job),
    quarantined: tree.quarantined,
    killedAttempts: tree.trials.killedAttempts,
    budget,
  });
  const rollouts = tree.trials.trials.map(({ record }) => record.rolloutName);
  for (const [name, lines] of await readJobLines(folder.dir, rollouts))
    await replace(folder, name, lines);
  const text = renderSummary(summary);
  const isNews = await replace(folder, "summary.json", text);
  // The contract's copy of the latest job's summary, for a run without repeats (spec 1.1).
  if (isNews && plan.settings.trials === 1) await store.write(folder.jobsDir, "summary.json", text);
  return { ...tree, budget };
}

/**
 * Those that the budget stopped while they ran, and those that it kept from starting, work that was only
 * to be verified again among them.
 */
export function budgetLists(
  { trials, neverStarted }: JobTrials,
  refused: ReadonlySet<string>,
): BudgetLists {
  const cancelled = trials.flatMap(({ taskName, record: { outcome } }) =>
    outcome.kind === "unscored" && outcome.fault === "budget" ? [taskName] : [],
  );
  const began = trials.map(({ taskName }) => taskName).filter((name) => !cancelled.includes(name));
  return { cancelled, notStarted: [...neverStarted, ...began].filter((name) => refused.has(name)) };
}

/** Whether the file was anything else before. */
async function replace(folder: JobFolder, name: string, text: string): Promise<boolean> {
  const bytes = Buffer.from(text);
  const there = await folder.read(name);
  if (there !== null && bytes.equals(there)) return false;
  await folder.write(name, bytes);
  return true;
}
