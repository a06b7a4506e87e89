import type { CardTask } from "../model/run-card.ts";
import { compareNames } from "../plan/compare-names.ts";
import { groupBy } from "../plan/group-by.ts";
import { ranOutOfTime } from "../results/classify-trial.ts";
import { rewardOf } from "../results/ended-trial.ts";
import { ratio } from "../results/ratio.ts";
import { exactMean } from "../stats/exact-sum.ts";
import type { TaskRate } from "../stats/task-interval.ts";
import { wilsonInterval } from "../stats/wilson.ts";
import { evidenceOf } from "./report-job.ts";
import { type ReportTrial, type SettingGroup, uniqueNames } from "./setting-groups.ts";

/** One row a task, in order of names, over all repeats of the setting. */
export function summarizeTasks({ trials, neverStarted }: SettingGroup): CardTask[] {
  const missing = groupBy(neverStarted, ({ taskName }) => taskName);
  const tried = groupBy(trials, ({ trial }) => trial.taskName);
  const names = [...new Set([...tried.keys(), ...missing.keys()])].toSorted(compareNames);
  return names.map((name) => toTask(name, tried.get(name) ?? [], missing.get(name)?.length ?? 0));
}

function toTask(taskName: string, trials: readonly ReportTrial[], missing: number): CardTask {
  const scored = trials.filter(({ trial }) => trial.record.outcome.kind === "scored");
  const rewards = scored.flatMap(({ trial }) => rewardOf(trial.record) ?? []);
  const passed = rewards.filter((reward) => reward === 1).length;
  const wilson = wilsonInterval(passed, rewards.length);
  const digests = trials.flatMap(({ trial }) => trial.record.taskDigest ?? []);
  return {
    task_name: taskName,
    task_digests: uniqueNames(digests),
    planned: trials.length + missing,
    trials: rewards.length,
    passed,
    pass_rate: ratio(passed, rewards.length),
    interval_95: wilson && [wilson.low, wilson.high],
    mean_reward: exactMean(rewards),
    // In order of value, so that no order of folders shows.
    rewards: rewards.toSorted((a, b) => b - a),
    images: imagesOf(trials),
    limit_sec: commonLimit(trials),
    limit_hits: scored.filter(({ trial }) => ranOutOfTime(trial.record)).length,
  };
}

function imagesOf(trials: readonly ReportTrial[]): CardTask["images"] {
  const images = trials.flatMap(({ trial: { record } }) =>
    record.isolation === null
      ? []
      : {
          image: record.isolation.image,
          image_digest: record.isolation.image_digest,
          platform: record.isolation.platform,
        },
  );
  const byText = new Map(images.map((image) => [JSON.stringify(image), image]));
  return [...byText].toSorted(([a], [b]) => compareNames(a, b)).map(([, image]) => image);
}

function commonLimit(trials: readonly ReportTrial[]): number | null {
  const limits = new Set(
    trials.map(({ job, trial }) => evidenceOf(job, trial.record.rolloutName).agentLimitSec),
  );
  const [limit = null] = limits;
  return limits.size === 1 ? limit : null;
}

/** The tasks with a score, as intervals take them. */
export function taskRates(tasks: readonly CardTask[]): TaskRate[] {
  return tasks.flatMap(({ pass_rate: rate, trials }) => (rate === null ? [] : { rate, trials }));
}
