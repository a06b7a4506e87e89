import type { CostStatus } from "../model/model-calls.ts";
import type { CardSpend } from "../model/run-card.ts";
import type { TrialRecord } from "../model/record.ts";
import { compareNames } from "../plan/compare-names.ts";
import { costOf, sumSpend } from "../results/sum-spend.ts";
import { countBy } from "../results/summarize-trajectory.ts";
import { costPerPass } from "../stats/cost-forecast.ts";
import { evidenceOf } from "./report-job.ts";
import { type ReportAttempt, type SettingGroup, uniqueNames } from "./setting-groups.ts";

/** What a setting's attempts cost, thrown away ones included, and how sure that is. */
export function summarizeGroupSpend(group: SettingGroup): CardSpend {
  const attempts = attemptsOf(group);
  const { killedAttempts: killed } = group;
  const spend = sumSpend(
    attempts.map(({ record }) => record),
    killed,
  );
  const passes = group.trials.filter(({ trial: { record } }) => isPass(record)).length;
  const costs = attempts.flatMap(({ record }) => costOf(record.usage) ?? []);
  return {
    attempts: spend.attempts,
    retried_trials: group.trials.filter(({ trial }) => trial.attempts.length > 1).length,
    superseded_attempts: group.superseded.length,
    input_tokens: spend.inputTokens,
    output_tokens: spend.outputTokens,
    cache_read_tokens: spend.cacheReadTokens,
    cache_creation_tokens: spend.cacheCreationTokens,
    total_tokens: spend.totalTokens,
    cost_usd: spend.costUsd,
    uncounted_attempts: spend.uncountedAttempts,
    unpriced_attempts: spend.unpricedAttempts,
    cost_status: countBy(
      [
        ...attempts.map(statusOf),
        ...Array.from({ length: killed }, () => "unknown" as const),
      ].toSorted(compareNames),
    ),
    price_sources: uniqueNames(attempts.flatMap(priceSourcesOf)),
    cost_per_pass_usd: spend.unpricedAttempts === 0 ? costPerPass(costs, passes) : null,
  };
}

function isPass({ outcome }: TrialRecord): boolean {
  return outcome.kind === "scored" && outcome.passed;
}

/** Every attempt of the setting's trials, and those that its jobs no longer count. */
function attemptsOf({ trials, superseded }: SettingGroup): ReportAttempt[] {
  const made = trials.flatMap(({ job, trial }) =>
    trial.attempts.map((record) => ({ job, record })),
  );
  return [...made, ...superseded];
}

type CostWord = CostStatus | "unknown";

/** As the proxy recorded it; else by what the result says. */
function statusOf({ job, record }: ReportAttempt): CostWord {
  const recorded = evidenceOf(job, record.rolloutName).modelCalls?.cost_status;
  if (recorded !== undefined) return recorded;
  const { totalTokens, costUsd } = record.usage;
  if (costUsd !== null && costUsd > 0) return "priced";
  if (totalTokens === 0) return "none";
  return totalTokens === null || costOf(record.usage) !== null ? "unknown" : "unpriced";
}

function priceSourcesOf({ job, record }: ReportAttempt): string[] {
  const recorded = evidenceOf(job, record.rolloutName).modelCalls?.price_sources ?? [];
  return [...recorded, record.usage.priceSource].filter((source) => source !== null);
}
