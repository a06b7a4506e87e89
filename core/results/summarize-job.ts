import type { BudgetSummary } from "../model/ledger-budget.ts";
import type { Quarantined, TrialRecord } from "../model/record.ts";
import type { SandboxKind } from "../model/settings.ts";
import type { JobSummary } from "../model/summary.ts";
import type { TaskSource } from "../model/task.ts";
import { compareNames } from "../plan/compare-names.ts";
import { sumCounts } from "../stats/exact-sum.ts";
import { errorCategoryOf, verifierCategoryOf } from "./classify-trial.ts";
import { contractCounts, countTrials } from "./count-trials.ts";
import type { TrialCounts } from "./count-trials.ts";
import { elapsedSecOf } from "./elapsed.ts";
import { formatPercent } from "./format-share.ts";
import { groupTrials } from "./group-trials.ts";
import type { PlannedMeasurement } from "./group-trials.ts";
import { mixedImages } from "./mixed-images.ts";
import { ratio } from "./ratio.ts";
import { SINGLE_SHOT, toResultSource } from "./render-trial-result.ts";
import { solveRates } from "./solve-rates.ts";
import { summarizeActivity } from "./summarize-activity.ts";
import { summarizeCoverage, summarizeViews } from "./summarize-coverage.ts";
import { summarizeSpend, summarizeUsage } from "./summarize-spend.ts";
import { countBy } from "./summarize-trajectory.ts";
import { suspectTrials } from "./trial-doubts.ts";

/** What a job was run with, as its summary repeats it. */
export interface JobFacts {
  readonly jobName: string;
  readonly agent: string;
  readonly model: string | null;
  readonly environment: SandboxKind;
  readonly concurrency: number;
  /** Null when the idle limit is off. */
  readonly agentIdleTimeoutSec: number | null;
  /** Origin of the tasks, when all come from one checkout. */
  readonly source?: TaskSource | null;
}

/** What a job's folder holds. */
export interface JobEvidence {
  /** Every attempt, in any order. */
  readonly records: readonly TrialRecord[];
  /** Null when the job does not know what it planned. */
  readonly planned: PlannedMeasurement | null;
  readonly quarantined: readonly Quarantined[];
  /** Attempts that could call a model and left no result that can be read. */
  readonly killedAttempts: number;
  /** Of the command's pot; null or absent where nobody counts. */
  readonly budget?: BudgetSummary | null;
}

/**
 * summary.json's content (spec 1.9), from the job's facts and attempts alone: the same for any order
 * of the attempts, whatever the files' times. The elapsed time is that in which any attempt ran, so
 * a resume with nothing to do changes no number.
 */
export function summarizeJob(facts: JobFacts, evidence: JobEvidence): JobSummary {
  const { records, planned, killedAttempts: killed } = evidence;
  const job = groupTrials(records, planned, { killed });
  const counts = countTrials([job]);
  const suspects = suspectTrials([job]);
  const standing = job.trials.map((trial) => trial.record);
  const skills = sumCounts(standing.map((record) => record.skillInvocations));
  return {
    ...describeJob(facts),
    ...summarizeCounts(standing, counts),
    ...summarizeScore(counts),
    elapsed_sec: elapsedSecOf(evidence.records),
    memory_score: null,
    memory_score_coverage: 0,
    memory: { scored: 0, avg_score: null, score: null },
    memory_scores: {},
    total_skill_invocations: skills,
    avg_skill_invocations: ratio(skills, standing.length) ?? 0,
    ...summarizeUsage(job, counts.total),
    ...summarizeActivity(standing),
    ...(facts.source ? { source: toResultSource(facts.source) } : {}),
    solve_rates: solveRates([job]),
    settings_digest: evidence.planned?.settingsDigest ?? null,
    coverage: summarizeCoverage(counts, job.trials),
    views: summarizeViews(counts),
    spend: summarizeSpend(job),
    duplicate_scores: job.trials.flatMap(({ duplicates }) =>
      duplicates.map((one) => ({ task_name: one.taskName, rollout_name: one.rolloutName })),
    ),
    mixed_images: mixedImages([job]),
    suspect: suspects.length,
    suspects,
    quarantined: evidence.quarantined.toSorted((a, b) => compareNames(a.path, b.path)),
    ...(evidence.budget == null ? {} : { budget: evidence.budget }),
  };
}

/** The text of summary.json: indent 2, final newline. */
export function renderSummary(summary: JobSummary): string {
  return `${JSON.stringify(summary, null, 2)}\n`;
}

function describeJob(facts: JobFacts) {
  return {
    job_name: facts.jobName,
    reviewer: null,
    agent: facts.agent,
    model: facts.model,
    environment: facts.environment,
    concurrency: facts.concurrency,
    agent_idle_timeout_sec: facts.agentIdleTimeoutSec,
    usage_tracking: { requested: "auto" as const },
    loop: SINGLE_SHOT,
  };
}

function summarizeCounts(records: readonly TrialRecord[], counts: TrialCounts) {
  const errors = records.flatMap((record) => errorCategoryOf(record) ?? []);
  const verifierErrors = records.flatMap((record) => verifierCategoryOf(record) ?? []);
  return {
    ...contractCounts(counts),
    pass: counts.passed,
    fail: counts.failed,
    error: counts.errored,
    idle_timeout: counts.idleTimeouts,
    error_categories: errors.length === 0 ? null : countBy(errors.toSorted()),
    verifier_error_categories:
      verifierErrors.length === 0 ? null : countBy(verifierErrors.toSorted()),
  };
}

function summarizeScore({ passed, failed, total, meanReward }: TrialCounts) {
  const scored = passed + failed;
  return {
    score: formatPercent(passed, total),
    score_ratio: ratio(passed, total),
    score_excl_errors: formatPercent(passed, scored),
    score_excl_errors_ratio: ratio(passed, scored),
    mean_reward: meanReward,
  };
}
