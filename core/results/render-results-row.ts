import { VerifierErrorCategory } from "../model/outcome.ts";
import type { TrialRecord } from "../model/record.ts";
import type { ResultsRow } from "../model/results-row.ts";
import { numericRewards, rewardOf } from "./ended-trial.ts";
import type { EndedTrial } from "./ended-trial.ts";

/**
 * The trial's line of results.jsonl, version 2 (spec 1.8). It holds no model exchange, so it is
 * never ready for training; unlike BenchFlow's, a trial without an error carries none here.
 */
export function resultsRow(trial: EndedTrial): ResultsRow {
  const { record } = trial;
  const { usage } = record;
  const prompts = trial.prompts.length === 0 ? [trial.instruction] : trial.prompts;
  const error = errorOf(record);
  const reward = rewardOf(record);
  return {
    example_id: 0,
    prompt: prompts.map((content) => ({ role: "user", content })),
    completion: null,
    info: infoOf(trial),
    reward,
    error,
    timing: record.timing,
    is_completed: error === null,
    is_truncated: record.outcome.kind === "scored" && record.outcome.limit !== null,
    stop_condition: error === null ? "agent_completed" : error.error,
    metrics: {
      n_tool_calls: record.toolCalls,
      n_prompts: record.prompts,
      ...numericRewards(record),
    },
    tool_defs: [],
    token_usage: {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      final_input_tokens: usage.inputTokens,
      final_output_tokens: usage.outputTokens,
      total_tokens: usage.totalTokens,
    },
    score: reward,
    total_tool_calls: record.toolCalls,
    trajectory: [],
  };
}

function infoOf({ record, rolloutDir }: EndedTrial): ResultsRow["info"] {
  return {
    task_id: record.taskName,
    task_name: record.taskName,
    rollout_name: record.rolloutName,
    environment: record.taskName,
    agent: record.agent,
    agent_name: record.agentName,
    model: record.model,
    source: "benchflow",
    rollout_dir: rolloutDir,
    training_ready: false,
    training_ready_reason: "missing_healthy_structured_llm_trajectory",
    schema_version: 2,
  };
}

function errorOf(record: TrialRecord): ResultsRow["error"] {
  const { outcome } = record;
  if (record.error !== null) return chain("agent_error", record.error.message);
  if (record.verifierError !== null) return chain("verifier_error", record.verifierError.message);
  if (outcome.kind === "scored") return null;
  const verifier =
    outcome.category === "no_verdict" || VerifierErrorCategory.safeParse(outcome.category).success;
  return chain(verifier ? "verifier_error" : "agent_error", outcome.detail);
}

function chain(error: "agent_error" | "verifier_error", text: string): ResultsRow["error"] {
  return { error, error_chain_str: text, error_chain_repr: text };
}
