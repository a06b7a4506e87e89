import type { CardGroup, CardTask } from "../model/run-card.ts";
import { ranOutOfTime } from "../results/classify-trial.ts";
import { countTrials } from "../results/count-trials.ts";
import type { JobTrials } from "../results/group-trials.ts";
import { mixedImages } from "../results/mixed-images.ts";
import { summarizeViews } from "../results/summarize-coverage.ts";
import { suspectTrials } from "../results/trial-doubts.ts";
import { exactMean } from "../stats/exact-sum.ts";
import { cautionsOf } from "../stats/interval-cautions.ts";
import { listKs, passAtK, passHatK } from "../stats/pass-at-k.ts";
import { taskInterval } from "../stats/task-interval.ts";
import { findHeadroom } from "./find-headroom.ts";
import type { SettingGroup } from "./setting-groups.ts";
import { summarizeComplete } from "./summarize-complete.ts";
import { summarizeSampling } from "./summarize-sampling.ts";
import { summarizeGroupSpend } from "./summarize-group-spend.ts";
import { summarizeTasks, taskRates } from "./summarize-tasks.ts";
import { timesOf, toCardTrials } from "./card-trials.ts";
import { findUnscored } from "./find-unscored.ts";
import type { GroupOptions } from "./group-options.ts";

/** Every number about one setting: the same for any order of folders. */
export function summarizeGroup(group: SettingGroup, options: GroupOptions): CardGroup {
  const trials = jobTrialsOf(group);
  const counts = countTrials([trials]);
  const tasks = summarizeTasks(group);
  const rates = taskRates(tasks);
  return {
    setting: group.setting,
    jobs: group.jobs.map(({ job }) => options.pathOf(job.path)),
    counts: {
      planned: counts.planned,
      scored: counts.passed + counts.failed,
      passed: counts.passed,
      failed: counts.failed,
      errored: counts.errored,
      verifier_errored: counts.verifierErrored,
      stopped: counts.stopped,
      never_started: counts.neverStarted,
      timed_out: trials.trials.filter(({ record }) => ranOutOfTime(record)).length,
      tries_per_task: commonTries(tasks),
    },
    score: exactMean(rates.map(({ rate }) => rate)),
    score_95: taskInterval(rates, options.seed),
    cautions: cautionsOf(rates),
    mean_reward: counts.meanReward,
    views: summarizeViews(counts),
    complete_repeats: summarizeComplete(group, options.seed),
    pass_at_k: passTable(tasks, options.seed),
    tasks,
    ...findUnscored(group, options),
    spend: summarizeGroupSpend(group),
    time: timesOf(group),
    sampling: summarizeSampling(group.trials),
    ...findHeadroom(group, options),
    suspects: suspectTrials([trials]),
    mixed_images: mixedImages([trials]),
    trials: toCardTrials(group, options),
  };
}

/** The group's trials as the counting functions take them: one job's or several repeats' together. */
function jobTrialsOf(group: SettingGroup): JobTrials {
  return {
    trials: group.trials.map(({ trial }) => trial),
    neverStarted: group.neverStarted.map(({ taskName }) => taskName),
    superseded: group.superseded.map(({ record }) => record),
    killedAttempts: group.killedAttempts,
  };
}

function commonTries(tasks: readonly CardTask[]): number | null {
  const tries = new Set(tasks.map(({ planned }) => planned));
  const [first = null] = tries;
  return tries.size === 1 ? first : null;
}

/** pass@k and pass^k over the tasks with at least k scored trials, for the k that every task has. */
function passTable(tasks: readonly CardTask[], seed: number): CardGroup["pass_at_k"] {
  const scored = tasks.filter(({ trials }) => trials > 0);
  const most = scored.reduce((least, { trials }) => Math.min(least, trials), Infinity);
  return listKs(scored.length === 0 ? 0 : most).map((k) => {
    const at = meanWithInterval(scored, (task) => passAtK(task, k), seed);
    const hat = meanWithInterval(scored, (task) => passHatK(task, k), seed);
    const { length: long } = tasks.filter(({ trials }) => trials >= k);
    return {
      k,
      pass_at_k: at.mean,
      pass_at_k_95: at.interval,
      pass_hat_k: hat.mean,
      pass_hat_k_95: hat.interval,
      tasks: long,
      tasks_short: tasks.length - long,
    };
  });
}

function meanWithInterval(
  tasks: readonly CardTask[],
  rateOf: (task: { trials: number; passes: number }) => number | null,
  seed: number,
): { mean: number | null; interval: [number, number] | null } {
  const rates = tasks.flatMap(({ trials, passed }) => {
    const rate = rateOf({ trials, passes: passed });
    // Rounding leaves 1e-17 outside.
    return rate === null ? [] : { rate: Math.min(1, Math.max(0, rate)), trials };
  });
  const interval = taskInterval(rates, seed);
  return {
    mean: exactMean(rates.map(({ rate }) => rate)),
    interval: interval && [interval.low, interval.high],
  };
}
