import type { CardGroup, CardTrial } from "../model/run-card.ts";
import type { TrialRecord } from "../model/record.ts";
import { compareNames } from "../plan/compare-names.ts";
import { classifyTrial } from "../results/classify-trial.ts";
import { executionOf } from "../results/denominators.ts";
import { rewardOf } from "../results/ended-trial.ts";
import { costOf } from "../results/sum-spend.ts";
import { exactSum } from "../stats/exact-sum.ts";
import { evidenceOf } from "./report-job.ts";
import type { ReportTrial, SettingGroup } from "./setting-groups.ts";
import { type GroupOptions, joinPath } from "./group-options.ts";

/** A row a trial, by task and repeat: how the model's side ended beside the verifier's reward. */
export function toCardTrials(group: SettingGroup, options: GroupOptions): CardTrial[] {
  const rows = group.trials.map((one) => toRow(one, options));
  return rows.toSorted(
    (a, b) =>
      compareNames(a.task_name, b.task_name) ||
      (a.repeat ?? 0) - (b.repeat ?? 0) ||
      compareNames(a.path, b.path),
  );
}

function toRow({ job, trial }: ReportTrial, { pathOf }: GroupOptions): CardTrial {
  const { record } = trial;
  const { outcome } = record;
  const unscored = outcome.kind === "unscored" ? outcome : null;
  return {
    path: joinPath(pathOf(job.job.path), record.rolloutName),
    task_name: trial.taskName,
    repeat: job.job.repeat,
    attempt: record.attempt,
    attempts: trial.attempts.length,
    reward: rewardOf(record),
    class: classifyTrial(record),
    model_outcome: executionOf(record),
    stop_reason: evidenceOf(job, record.rolloutName).stopReason,
    limit: outcome.kind === "scored" ? outcome.limit : null,
    fault: unscored?.fault ?? null,
    category: unscored?.category ?? record.error?.category ?? null,
    seconds: secondsOf(record),
    total_tokens: record.usage.totalTokens,
    cost_usd: costOf(record.usage),
  };
}

function secondsOf({ timing }: TrialRecord): number | null {
  return timing["total"] ?? null;
}

/** How long trials took; those that do not know are left out. */
export function timesOf(group: SettingGroup): CardGroup["time"] {
  const seconds = group.trials
    .flatMap(({ trial }) => secondsOf(trial.record) ?? [])
    .toSorted((a, b) => a - b);
  return {
    shortest_sec: seconds[0] ?? null,
    longest_sec: seconds.at(-1) ?? null,
    total_sec: seconds.length === 0 ? null : exactSum(seconds),
  };
}
