import { isScripted } from "../model/scripted-name.ts";
import type { Outcome } from "../model/outcome.ts";
import type { SolveRates } from "../model/summary.ts";
import { compareNames } from "../plan/compare-names.ts";
import { exactMean, sumCounts } from "../stats/exact-sum.ts";
import { listKs, passAtK, passHatK } from "../stats/pass-at-k.ts";
import { controlOf } from "./classify-trial.ts";
import type { JobTrials, Trial } from "./group-trials.ts";

interface TaskScores {
  /** Scored trials. */
  trials: number;
  passes: number;
  unscored: number;
  nonbinary: number;
}

/**
 * How often tasks are solved, over the repeats of one setting (spec 4.4, 12.6). Each trial counts
 * once, however many attempts it took; trials without a verdict are counted as such and never as
 * failures; controls are left out. pass@k and pass^k are means over the tasks that have at least k
 * scored trials, and null when no task has.
 */
export function solveRates(jobs: readonly JobTrials[]): SolveRates {
  const tasks = [...tallyTasks(jobs).values()];
  const counts = tasks.map((task) => task.trials);
  const ks = listKs(smallest(counts.filter((count) => count > 0)) ?? 0);
  const forEachK = <T>(value: (k: number) => T): Record<string, T> =>
    Object.fromEntries(ks.map((k) => [String(k), value(k)]));
  const meanOf = (rate: typeof passAtK, k: number): number | null =>
    exactMean(tasks.flatMap((task) => rate(task, k) ?? []));
  const short = (k: number): number => counts.filter((count) => count < k).length;
  return {
    success_rule: "passed (reward = 1)",
    solve_threshold: 1,
    tasks: tasks.length,
    trials: sumCounts(counts),
    unscored: sumCounts(tasks.map((task) => task.unscored)),
    controls_excluded: jobs.flatMap(({ trials }) => trials).filter(isControl).length,
    min_trials_per_task: smallest(counts),
    max_trials_per_task: largest(counts),
    solve_rate: meanOf(passAtK, 1),
    nonbinary_rewards: sumCounts(tasks.map((task) => task.nonbinary)),
    ks,
    pass_at_k: forEachK((k) => meanOf(passAtK, k)),
    pass_hat_k: forEachK((k) => meanOf(passHatK, k)),
    tasks_at_k: forEachK((k) => tasks.length - short(k)),
    tasks_short_at_k: forEachK(short),
    caveats: [...scriptCaveats(jobs), ...caveatsOf(tasks)],
  };
}

function scriptCaveats(jobs: readonly JobTrials[]): string[] {
  const trials = jobs.flatMap((job) => job.trials);
  const isAny = trials.some(({ record }) => isScripted(record.model));
  return isAny ? ["a script answered in the place of a model"] : [];
}

function isControl(trial: Trial): boolean {
  return controlOf(trial.record.agent) !== null;
}

function tallyTasks(jobs: readonly JobTrials[]): Map<string, TaskScores> {
  const tasks = new Map<string, TaskScores>();
  const taskOf = (name: string): TaskScores => {
    const known = tasks.get(name) ?? { trials: 0, passes: 0, unscored: 0, nonbinary: 0 };
    tasks.set(name, known);
    return known;
  };
  for (const job of jobs) {
    for (const trial of job.trials.filter((one) => !isControl(one))) {
      addTo(taskOf(trial.taskName), trial.record.outcome);
    }
    // What a control job did not start would have been a control as well.
    const control = job.trials.length > 0 && job.trials.every(isControl);
    for (const name of control ? [] : job.neverStarted) taskOf(name).unscored += 1;
  }
  // In order of name, so that the sums do not depend on the order of the jobs.
  return new Map([...tasks].toSorted(([a], [b]) => compareNames(a, b)));
}

function addTo(task: TaskScores, outcome: Outcome): void {
  if (outcome.kind === "unscored") {
    task.unscored += 1;
    return;
  }
  task.trials += 1;
  if (outcome.passed) task.passes += 1;
  if (outcome.reward !== 0 && outcome.reward !== 1) task.nonbinary += 1;
}

function smallest(counts: readonly number[]): number | null {
  return counts.reduce<number | null>((least, one) => Math.min(least ?? one, one), null);
}

function largest(counts: readonly number[]): number | null {
  return counts.reduce<number | null>((most, one) => Math.max(most ?? one, one), null);
}

function caveatsOf(tasks: readonly TaskScores[]): string[] {
  const caveats: string[] = [];
  const unscored = sumCounts(tasks.map((task) => task.unscored));
  const scored = sumCounts(tasks.map((task) => task.trials));
  const counts = tasks.map((task) => task.trials);
  const [least, most] = [smallest(counts) ?? 0, largest(counts) ?? 0];
  const nonbinary = sumCounts(tasks.map((task) => task.nonbinary));
  if (unscored > 0) {
    caveats.push(`${unscored} of ${unscored + scored} trials have no score and are left out`);
  }
  if (least !== most) caveats.push(`tasks have between ${least} and ${most} scored trials`);
  if (nonbinary > 0) {
    caveats.push(`${nonbinary} of ${scored} rewards are neither 0 nor 1 and count as not solved`);
  }
  if (tasks.length > 0 && least < 3) {
    caveats.push("some task has fewer than 3 scored trials: a noisy number");
  }
  return caveats;
}
