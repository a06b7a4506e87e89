import { countedRewards, numericRewards, rewardOf } from "./ended-trial.ts";
import type { EndedTrial } from "./ended-trial.ts";
import { trainingSteps } from "./training-steps.ts";
import type { TrainingStep } from "./training-steps.ts";

/** The line of trainer/verifiers.jsonl: a trial without a verdict has the reward null, never 0. */
export function verifiersRow(trial: EndedTrial): object {
  const { record } = trial;
  const steps = trainingSteps(trial.instruction, trial.events);
  const reward = rewardOf(record);
  const { reward: _, ...items } = countedRewards(record);
  const { reward: __, ...metrics } = numericRewards(record);
  const failure = record.verifierError?.message ?? record.error?.message ?? null;
  const unscored = record.outcome.kind === "unscored" ? record.outcome.detail : null;
  return {
    example_id: 0,
    prompt: messages(steps, "user"),
    completion: messages(steps, "assistant"),
    reward,
    metrics,
    is_completed: true,
    is_truncated: record.outcome.kind === "scored" && record.outcome.limit !== null,
    info: {
      task_id: record.taskName,
      environment: record.taskName,
      model: record.model ?? "",
      reward_valid: reward !== null,
      reward_metadata: {
        items,
        events: [],
        error: failure ?? unscored,
        space: "output",
        granularity: "terminal",
      },
    },
  };
}

function messages(steps: readonly TrainingStep[], role: "user" | "assistant"): object[] {
  return steps.flatMap((step) => {
    if ((step.kind === "user") !== (role === "user")) return [];
    const content = step.kind === "tool" ? `[${step.name}: ${step.title}]` : step.text;
    return [{ role, content }];
  });
}

/** The line of trainer/adp.jsonl (Agent Data Protocol 1.3.1); the reward stands on the last action. */
export function adpRow(trial: EndedTrial): object {
  const { record } = trial;
  const content = trainingSteps(trial.instruction, trial.events).flatMap(toAdp);
  const reward = rewardOf(record);
  const last = content.findLastIndex(({ class_: kind }) => kind.endsWith("_action"));
  return {
    schema_version: "1.3.1",
    id: record.rolloutName,
    content: content.map((item, index) =>
      index === last && reward !== null ? Object.assign({}, item, { reward }) : item,
    ),
    details: {
      task_id: record.taskName,
      environment: record.taskName,
      model: record.model ?? "",
    },
  };
}

interface AdpItem {
  readonly class_: "text_observation" | "message_action" | "api_action";
}

function observe(content: string, source: "user" | "environment") {
  return { class_: "text_observation", content, source } as const;
}

function toAdp(step: TrainingStep): AdpItem[] {
  switch (step.kind) {
    case "user":
      return [observe(step.text, "user")];
    case "message":
    case "thought": {
      const description = step.kind === "thought" ? { description: "thought" } : {};
      return [
        Object.assign({ class_: "message_action", content: step.text } as const, description),
      ];
    }
    case "tool": {
      const call = { function: step.name, kwargs: step.input, description: step.title };
      return [
        Object.assign({ class_: "api_action" } as const, call),
        observe(step.output, "environment"),
      ];
    }
  }
}

/**
 * The text of trainer/atif.json (Agent Trajectory Interchange Format 1.7), null when nothing was
 * recorded that an agent did.
 */
export function renderAtif(trial: EndedTrial): string | null {
  const steps = trainingSteps(trial.instruction, trial.events);
  if (steps.every((step) => step.kind === "user")) return null;
  const { record } = trial;
  const { usage } = record;
  const document = {
    schema_version: "ATIF-v1.7",
    session_id: record.rolloutName,
    agent: { name: record.agent, version: "unknown" },
    steps: steps.map((step, index) => Object.assign({ step_id: index + 1 }, toAtif(step))),
    final_metrics: {
      total_steps: steps.length,
      total_prompt_tokens: usage.inputTokens,
      total_completion_tokens: usage.outputTokens,
      total_cached_tokens: usage.cacheReadTokens,
    },
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function toAtif(step: TrainingStep): object {
  switch (step.kind) {
    case "user":
      return { source: "user", message: step.text };
    case "message":
      return { source: "agent", message: step.text };
    case "thought":
      return { source: "agent", message: "", reasoning_content: step.text };
    case "tool":
      return {
        source: "agent",
        message: "",
        tool_calls: [{ tool_call_id: step.id, function_name: step.name, arguments: step.input }],
        observation: { results: [{ source_call_id: step.id, content: step.output }] },
      };
  }
}
