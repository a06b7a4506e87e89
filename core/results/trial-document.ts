import type { TrialDocument } from "../model/job-view.ts";
import type { TrialRecord, Usage } from "../model/record.ts";
import { classifyTrial, controlOf, errorCategoryOf, verifierCategoryOf } from "./classify-trial.ts";
import { assessmentOf, executionOf } from "./denominators.ts";
import { countedRewards, rewardOf } from "./ended-trial.ts";
import type { Trial } from "./group-trials.ts";
import type { AttemptFiles, LoadedJob } from "./loaded-job.ts";
import { stampMs } from "./local-stamp.ts";
import { toResultOutcome } from "./result-outcome.ts";

const NO_FILES: AttemptFiles = {
  ctrf: null,
  rewardDetails: null,
  rewardJson: null,
  rewardText: null,
  stdout: null,
  stderr: null,
  trajectory: null,
};

/** One trial of a job as `benchflow.trial` v1 (spec 12.5). */
export function toTrialDocument(job: LoadedJob, trial: Trial): TrialDocument {
  const { record } = trial;
  const files = job.files.get(record.rolloutName) ?? NO_FILES;
  return {
    kind: "benchflow.trial",
    schema_version: 1,
    schema_minor: 3,
    source: "result.json",
    path: `${job.path}/${record.rolloutName}`,
    row: null,
    ...identity(record),
    ...judgement(record),
    n_tool_calls: record.toolCalls,
    n_prompts: record.prompts,
    usage: tokens(record.usage),
    ...history(record),
    forks: [],
    checkpoints: null,
    verifier: {
      ctrf: files.ctrf,
      reward_details: files.rewardDetails,
      reward_json: files.rewardJson,
      reward_text: files.rewardText,
      stdout: files.stdout,
      stderr: files.stderr,
    },
    review: null,
    rubric_reviews: [],
    sandbox: record.isolation,
    verification: record.verification,
    scoring: null,
    integration_failure: null,
    attempts: trial.attempts.map(({ rolloutName, attempt, outcome }) => ({
      rollout_name: rolloutName,
      attempt,
      scored: outcome.kind === "scored",
    })),
    trajectory: files.trajectory,
    outcome: toResultOutcome(record.outcome),
  };
}

function identity(record: TrialRecord) {
  return {
    task_name: record.taskName,
    rollout_name: record.rolloutName,
    agent: record.agent,
    agent_name: record.agentName,
    model: record.model,
  };
}

function judgement(record: TrialRecord) {
  const kind = classifyTrial(record);
  return {
    reward: rewardOf(record),
    rewards: record.outcome.kind === "scored" ? countedRewards(record) : null,
    passed: kind === "passed",
    score_outcome: kind,
    execution: executionOf(record),
    assessment: assessmentOf(record),
    control: controlOf(record.agent),
    error: record.error?.message ?? null,
    error_category: errorCategoryOf(record),
    verifier_error: record.verifierError?.message ?? null,
    verifier_error_category: verifierCategoryOf(record),
  };
}

function tokens(usage: Usage): TrialDocument["usage"] {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_creation_tokens: usage.cacheCreationTokens,
    total_tokens: usage.totalTokens,
    cost_usd: usage.costUsd,
    usage_source: usage.usageSource,
    price_source: usage.priceSource,
  };
}

function history(record: TrialRecord) {
  const [from, to] = [stampMs(record.startedAt), stampMs(record.finishedAt)];
  return {
    started_at: record.startedAt,
    finished_at: record.finishedAt,
    duration_sec: from === null || to === null ? null : (to - from) / 1000,
    timing: record.timing,
    settings: {
      task_digest: record.taskDigest,
      context_digest: record.contextDigest,
      settings_digest: record.settingsDigest,
    },
  };
}
