import type { TrialRecord } from "../model/record.ts";
import type { SpendSummary } from "../model/summary.ts";
import type { JobTrials } from "./group-trials.ts";
import { allAttempts } from "./group-trials.ts";
import { ratio } from "./ratio.ts";
import { sumSpend } from "./sum-spend.ts";
import { attemptsLostToVerifier } from "./trial-doubts.ts";
import type { Spend } from "./sum-spend.ts";

/** The keys of summary.json about tokens and money (spec 1.9), over every attempt of the job. */
export function summarizeUsage(job: JobTrials, total: number) {
  const attempts = allAttempts(job);
  const spend = sumSpend(attempts, job.killedAttempts);
  return {
    total_input_tokens: spend.inputTokens,
    total_output_tokens: spend.outputTokens,
    total_cache_read_tokens: spend.cacheReadTokens,
    total_cache_creation_tokens: spend.cacheCreationTokens,
    total_tokens: spend.totalTokens,
    total_cost_usd: spend.costUsd,
    avg_cost_per_trial_usd: averageCost(spend, total),
    telemetry_coverage: ratio(attempts.filter(isCounted).length, spend.attempts) ?? 0,
  };
}

function isCounted(record: TrialRecord): boolean {
  return record.usage.usageSource !== "unavailable";
}

/** Only where every attempt has a price and some price is more than nothing. */
function averageCost({ costUsd, unpricedAttempts }: Spend, total: number): number | null {
  if (costUsd === null || costUsd === 0 || unpricedAttempts > 0) return null;
  return ratio(costUsd, total);
}

/** How many attempts were paid for, and for how many the sums are silent. */
export function summarizeSpend(job: JobTrials): SpendSummary {
  const { attempts, uncountedAttempts, unpricedAttempts } = sumSpend(
    allAttempts(job),
    job.killedAttempts,
  );
  return {
    attempts,
    superseded_attempts: job.superseded.length,
    retried_trials: job.trials.filter((trial) => trial.attempts.length > 1).length,
    uncounted_attempts: uncountedAttempts,
    unpriced_attempts: unpricedAttempts,
    attempts_lost_to_verifier: attemptsLostToVerifier(job),
  };
}
