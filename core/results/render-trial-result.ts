import type { TrialRecord, Usage } from "../model/record.ts";
import type { Diagnostics } from "../model/diagnostics.ts";
import type { ModelCalls } from "../model/model-calls.ts";
import type { TaskSource } from "../model/task.ts";
import type {
  Loop,
  Scene,
  SkillFields,
  TrajectorySummary,
  TrialResult,
  UsageTracking,
} from "../model/trial-result.ts";
import { isUtcStamp, toLocalStamp } from "./local-stamp.ts";
import { toResultOutcome } from "./result-outcome.ts";

/** What result.json holds beside the record: told by the runner, read by people and other tools. */
export interface TrialResultExtras {
  /** Default: `NO_SKILLS`. */
  readonly skills?: SkillFields;
  /** Null when nothing was recorded; its two step counts are taken from the record. */
  readonly trajectorySummary: TrajectorySummary | null;
  readonly usageTracking: UsageTracking;
  /** The proxy's account of the model requests; null or absent where no proxy stood between. */
  readonly modelCalls?: ModelCalls | null;
  /** Default: `describeScene` of the record's agent. */
  readonly scenes?: readonly Scene[];
  /** Default: `SINGLE_SHOT`. */
  readonly loop?: Loop;
  readonly exportError?: string | null;
  /** Objects of spec 1.6 that apply; the rest is written as null. */
  readonly diagnostics?: Partial<Diagnostics>;
  readonly source?: TaskSource | null;
  readonly dataset?: { readonly name: string; readonly version: string } | null;
  readonly sandboxId: string | null;
  /** What local time adds to UTC, in minutes, when the trial started. */
  readonly utcOffsetMinutes: number;
}

export const SINGLE_SHOT: Loop = { strategy: "single-shot" };

const NO_SKILLS: SkillFields = {
  skill_mode: "no-skill",
  skill_source: "none",
  requested_skills_dir: null,
  effective_skills_dir: null,
  skills_sandbox_dir: null,
  include_task_skills: false,
};

const NO_DIAGNOSTICS: Diagnostics = {
  idle_timeout_info: null,
  agent_timeout_info: null,
  sandbox_startup_info: null,
  transport_error_info: null,
  verifier_timeout_info: null,
  api_error_info: null,
  suspected_api_error_info: null,
};

/** How tokens are counted where no model can be called: oracle, nop and script trials. */
export function trackNoUsage(environment: string): UsageTracking {
  return {
    requested: "auto",
    status: "unavailable",
    environment,
    endpoint_kind: "none",
    usage_source: "unavailable",
  };
}

/** Counted by the proxy beside the sandbox, request by request. */
export function trackProxiedUsage(environment: string): UsageTracking {
  return {
    requested: "auto",
    status: "enabled",
    environment,
    endpoint_kind: "host",
    usage_source: "provider_response",
  };
}

/** The one scene of a run without scene files. */
export function describeScene(
  role: Pick<Scene["roles"][number], "agent" | "model" | "reasoning_effort">,
): Scene {
  return {
    name: "default",
    skills_dir: null,
    roles: [
      {
        name: "agent",
        agent: role.agent,
        model: role.model,
        reasoning_effort: role.reasoning_effort,
        timeout_sec: null,
        idle_timeout_sec: null,
        skills_dir: null,
        capabilities: null,
        env_keys: [],
      },
    ],
    turns: [{ role: "agent", has_prompt: false }],
  };
}

/**
 * The whole text of result.json (spec 1.4): indent 2, the contract's order, our keys after it, final
 * newline. `readTrialResult` of the text gives back an equal record.
 */
export function renderTrialResult(record: TrialRecord, extras: TrialResultExtras): string {
  const result: TrialResult = {
    ...identity(record, extras),
    ...effort(record, extras),
    ...failures(record, extras),
    ...history(record, extras),
    ...additions(record),
    ...(extras.modelCalls == null ? {} : { model_calls: extras.modelCalls }),
  };
  return `${JSON.stringify(result, null, 2)}\n`;
}

function identity(record: TrialRecord, extras: TrialResultExtras) {
  const scored = record.outcome.kind === "scored";
  return {
    task_name: record.taskName,
    rollout_name: record.rolloutName,
    rewards: scored ? record.rewards : null,
    agent: record.agent,
    agent_name: record.agentName,
    model: record.model,
    ...(extras.skills ?? NO_SKILLS),
  };
}

function effort(record: TrialRecord, extras: TrialResultExtras) {
  const activity = {
    n_tool_calls: record.toolCalls,
    n_skill_invocations: record.skillInvocations,
    n_prompts: record.prompts,
  };
  return {
    ...activity,
    agent_result: {
      ...activity,
      ...tokens(record.usage),
      ...(extras.modelCalls == null ? {} : { cost_status: extras.modelCalls.cost_status }),
    },
    final_metrics: {
      total_prompt_tokens: record.usage.inputTokens,
      total_completion_tokens: record.usage.outputTokens,
      total_cached_tokens: record.usage.cacheReadTokens,
      total_cost_usd: record.usage.costUsd,
    },
    trajectory_summary: trajectorySummary(record, extras),
    usage_tracking: extras.usageTracking,
  };
}

function tokens(usage: Usage) {
  return {
    n_input_tokens: usage.inputTokens,
    n_output_tokens: usage.outputTokens,
    n_cache_read_tokens: usage.cacheReadTokens,
    n_cache_creation_tokens: usage.cacheCreationTokens,
    total_tokens: usage.totalTokens,
    cost_usd: usage.costUsd,
    usage_source: usage.usageSource,
    price_source: usage.priceSource,
  };
}

function trajectorySummary(
  record: TrialRecord,
  extras: TrialResultExtras,
): TrajectorySummary | null {
  if (record.trajectory === null) return null;
  const { steps, toolCallSteps } = record.trajectory;
  const counts = extras.trajectorySummary ?? {
    steps,
    tool_call_steps: toolCallSteps,
    user_message_steps: 0,
    agent_message_steps: 0,
    agent_thought_steps: 0,
    other_steps: steps - toolCallSteps,
    event_type_counts: {},
    tool_call_status_counts: {},
    partial_trajectory: false,
    trajectory_source: null,
  };
  return { ...counts, steps, tool_call_steps: toolCallSteps };
}

function failures(record: TrialRecord, extras: TrialResultExtras) {
  return {
    error: record.error?.message ?? null,
    error_category: record.error?.category ?? null,
    verifier_error: record.verifierError?.message ?? null,
    verifier_error_category: record.verifierError?.category ?? null,
    export_error: extras.exportError ?? null,
    ...NO_DIAGNOSTICS,
    ...extras.diagnostics,
    partial_trajectory: extras.trajectorySummary?.partial_trajectory ?? false,
    trajectory_source: extras.trajectorySummary?.trajectory_source ?? null,
  };
}

function history(record: TrialRecord, extras: TrialResultExtras) {
  const { source, dataset } = extras;
  return {
    started_at: toLocalStamp(record.startedAt, extras.utcOffsetMinutes),
    finished_at: toLocalStamp(record.finishedAt, extras.utcOffsetMinutes),
    timing: record.timing,
    scenes: [
      ...(extras.scenes ?? [
        describeScene({ agent: record.agent, model: record.model, reasoning_effort: null }),
      ]),
    ],
    loop: extras.loop ?? SINGLE_SHOT,
    ...(source ? { source: toResultSource(source) } : {}),
    ...(dataset ? { dataset_name: dataset.name, dataset_version: dataset.version } : {}),
    ...(record.taskDigest === null ? {} : { task_digest: record.taskDigest }),
    sandbox_id: extras.sandboxId,
  };
}

/** A task's origin in result.json's and config.json's spelling. A local checkout asks for no ref. */
export function toResultSource(source: TaskSource): NonNullable<TrialResult["source"]> {
  const { type, repo, resolvedSha, path, dirty } = source;
  return { type, repo, requested_ref: null, resolved_sha: resolvedSha, path, dirty };
}

function additions(record: TrialRecord) {
  return {
    outcome: toResultOutcome(record.outcome),
    attempt: record.attempt,
    context_digest: record.contextDigest,
    settings_digest: record.settingsDigest,
    withheld_rewards: record.outcome.kind === "unscored" ? record.rewards : null,
    started_at_utc: isUtcStamp(record.startedAt) ? record.startedAt : null,
    finished_at_utc: isUtcStamp(record.finishedAt) ? record.finishedAt : null,
    timing_spans: record.spans.map(({ phase, startedAt, seconds }) => ({
      phase,
      started_at_utc: startedAt,
      seconds,
    })),
    resources: record.resources,
    isolation: record.isolation,
    verification: record.verification,
    workspace_saved: record.workspaceSaved,
    first_failed_test: record.firstFailedTest,
  };
}
