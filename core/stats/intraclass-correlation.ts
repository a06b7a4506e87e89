import { exactMean, exactSum, sumCounts } from "./exact-sum.ts";
import type { TaskScores } from "./standard-error.ts";

/** How scores spread between tasks and within them. */
export interface VarianceParts {
  /** Variance of the tasks' true means; below 0 when trials of one task differ more than tasks do. */
  readonly betweenTasks: number;
  /** Variance of trials around their task's mean. */
  readonly withinTasks: number;
  /** `between / (between + within)`, at least 0: how alike trials of one task are. */
  readonly correlation: number;
}

/**
 * The parts of the variance and the intraclass correlation, from one-way analysis of variance (Fisher
 * 1925; ragged tasks as Donner 1986): `(MS_between - MS_within)/n₀`. Tasks are a random sample. Null
 * for fewer than 2 tasks, where no task has two trials, or where nothing differs at all: it cannot be
 * told then.
 */
export function varianceParts(tasks: readonly TaskScores[]): VarianceParts | null {
  const all = tasks.flat();
  const tried = tasks.flatMap((scores) => {
    const own = exactMean(scores);
    return own === null ? [] : { scores, mean: own };
  });
  const mean = exactMean(all);
  if (mean === null || tried.length < 2 || all.length === tried.length) return null;
  const within =
    exactSum(tried.flatMap((task) => task.scores.map((score) => (score - task.mean) ** 2))) /
    (all.length - tried.length);
  const between =
    exactSum(tried.map((task) => task.scores.length * (task.mean - mean) ** 2)) /
    (tried.length - 1);
  const squares = sumCounts(tried.map(({ scores }) => scores.length ** 2));
  const trialsPerTask = (all.length - squares / all.length) / (tried.length - 1);
  const betweenTasks = (between - within) / trialsPerTask;
  const whole = Math.max(0, betweenTasks) + within;
  if (whole === 0) return null;
  return { betweenTasks, withinTasks: within, correlation: Math.max(0, betweenTasks) / whole };
}

/**
 * How many trials of tasks are worth one independent trial: `1 + (m-1)·ICC` (Kish 1965), for m trials
 * a task.
 */
export function designEffect(trialsPerTask: number, correlation: number): number {
  return 1 + (trialsPerTask - 1) * correlation;
}
