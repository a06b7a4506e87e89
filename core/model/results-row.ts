import * as z from "zod";

const Message = z.object({ role: z.enum(["user", "assistant"]), content: z.string() });
const Count = z.int().min(0);

/**
 * One line of results.jsonl, version 2 (spec 1.8): `reward` and `score` are null for a trial without
 * a verdict, which version 1 wrote as 0. Token counts are null when nobody counted them.
 */
export const ResultsRow = z.object({
  example_id: Count,
  prompt: z.array(Message),
  completion: z.array(Message).nullable(),
  info: z.object({
    task_id: z.string(),
    task_name: z.string(),
    rollout_name: z.string(),
    environment: z.string(),
    agent: z.string(),
    agent_name: z.string(),
    model: z.string().nullable(),
    source: z.literal("benchflow"),
    rollout_dir: z.string(),
    training_ready: z.boolean(),
    training_ready_reason: z.string().nullable(),
    schema_version: z.literal(2),
  }),
  reward: z.number().nullable(),
  error: z
    .object({
      error: z.enum(["agent_error", "verifier_error", "export_error"]),
      error_chain_str: z.string(),
      error_chain_repr: z.string(),
    })
    .nullable(),
  timing: z.record(z.string(), z.number()),
  is_completed: z.boolean(),
  is_truncated: z.boolean(),
  stop_condition: z.enum([
    "agent_completed",
    "agent_error",
    "verifier_error",
    "export_error",
    "partial_trajectory",
  ]),
  metrics: z.record(z.string(), z.number()),
  tool_defs: z.array(z.unknown()),
  token_usage: z.object({
    input_tokens: Count.nullable(),
    output_tokens: Count.nullable(),
    final_input_tokens: Count.nullable(),
    final_output_tokens: Count.nullable(),
    total_tokens: Count.nullable(),
  }),
  score: z.number().nullable(),
  total_tool_calls: Count,
  trajectory: z.array(z.unknown()),
});
export type ResultsRow = z.infer<typeof ResultsRow>;
