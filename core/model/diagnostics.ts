import * as z from "zod";

/**
 * The objects that tell why a trial went wrong, one key each in result.json (spec 1.6). All are null
 * when they do not apply. Times in seconds.
 */
export const Diagnostics = z.object({
  idle_timeout_info: z
    .object({
      reason: z.literal("idle_timeout"),
      idle_timeout_sec: z.number(),
      idle_duration_sec: z.number(),
      wall_clock_elapsed_sec: z.number(),
      n_tool_calls: z.int().min(0),
      n_message_chunks: z.int().min(0),
      n_thought_chunks: z.int().min(0),
      last_activity_at: z.string().nullable(),
    })
    .nullable(),
  agent_timeout_info: z
    .object({
      reason: z.literal("wall_clock_timeout"),
      timeout_sec: z.number(),
      n_tool_calls: z.int().min(0),
      pending_tool_call_ids: z.array(z.string()),
      terminal_event_recorded: z.boolean(),
      terminal_trajectory_complete: z.boolean(),
    })
    .nullable(),
  sandbox_startup_info: z
    .object({
      reason: z.literal("sandbox_startup_failed"),
      sandbox_id: z.string().nullable(),
      sandbox_state: z.string().nullable(),
      attempts: z.int().min(1),
      build_timeout_sec: z.number(),
      raw_message: z.string(),
    })
    .nullable(),
  transport_error_info: z
    .object({
      reason: z.literal("transport_closed"),
      raw_message: z.string(),
      process_exit_code: z.int().nullable(),
      transport_diagnosis: z.string(),
      stderr_snippet: z.string().optional(),
      sandbox_reachable: z.boolean().optional(),
    })
    .nullable(),
  verifier_timeout_info: z
    .object({
      timeout_budget_sec: z.number(),
      elapsed_sec: z.number(),
      task_name: z.string(),
    })
    .nullable(),
  api_error_info: z
    .object({
      subcategory: z.string(),
      transient: z.boolean(),
      dominant_status: z.int().nullable(),
      status_counts: z.record(z.string(), z.int()),
      total_requests: z.int().min(0),
      failed_requests: z.int().min(0),
      fingerprint: z.string(),
    })
    .nullable(),
  suspected_api_error_info: z
    .object({
      total_tokens: z.int().min(0),
      n_tool_calls: z.int().min(0),
      total_requests: z.int().min(0),
      failed_requests: z.int().min(0),
    })
    .nullable(),
});
export type Diagnostics = z.infer<typeof Diagnostics>;
