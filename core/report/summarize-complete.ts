import type { CardGroup } from "../model/run-card.ts";
import { exactMean } from "../stats/exact-sum.ts";
import { taskInterval } from "../stats/task-interval.ts";
import type { ReportJob } from "./report-job.ts";
import type { SettingGroup } from "./setting-groups.ts";
import { summarizeTasks, taskRates } from "./summarize-tasks.ts";

/**
 * The score on the repeats in which every planned trial has one (statistics D8): cheap trials finish
 * first, so what is scored when money ends is no random sample. Null where all repeats are complete,
 * or none is.
 */
export function summarizeComplete(
  group: SettingGroup,
  seed: number,
): CardGroup["complete_repeats"] {
  const complete = group.jobs.filter(isComplete);
  if (complete.length === 0 || complete.length === group.jobs.length) return null;
  const trials = group.trials.filter(({ job }) => complete.includes(job));
  const tasks = summarizeTasks({ ...group, jobs: complete, trials, neverStarted: [] });
  const rates = taskRates(tasks);
  return {
    repeats: complete.length,
    of: group.jobs.length,
    scored: trials.length,
    passed: tasks.reduce((sum, { passed }) => sum + passed, 0),
    score: exactMean(rates.map(({ rate }) => rate)),
    score_95: taskInterval(rates, seed),
  };
}

function isComplete({ job }: ReportJob): boolean {
  return (
    job.neverStarted.length === 0 &&
    job.trials.every(({ record }) => record.outcome.kind === "scored")
  );
}
