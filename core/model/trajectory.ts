import * as z from "zod";

const Content = z.array(z.unknown());

/** One line of acp_trajectory.jsonl (spec 10.5), with the time of its receipt. */
export const TrajectoryEvent = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("user_message"), text: z.string() }),
  z.looseObject({ type: z.literal("agent_message"), text: z.string() }),
  z.looseObject({ type: z.literal("agent_thought"), text: z.string() }),
  z.looseObject({
    type: z.literal("tool_call"),
    tool_call_id: z.string(),
    kind: z.string(),
    title: z.string(),
    status: z.enum(["pending", "in_progress", "completed", "failed", "cancelled"]),
    content: Content.default([]),
  }),
  z.looseObject({
    type: z.literal("agent_timeout"),
    reason: z.literal("wall_clock_timeout"),
    timeout_sec: z.number(),
    pending_tool_call_ids: z.array(z.string()),
    terminal_trajectory_complete: z.boolean(),
  }),
  z.looseObject({
    type: z.literal("oracle"),
    command: z.string(),
    return_code: z.number(),
    stdout: z.string(),
  }),
  /** What came after the file had grown to its limit, so that nobody takes a part for the whole. */
  z.looseObject({ type: z.literal("events_dropped"), events: z.number() }),
]);
export type TrajectoryEvent = z.infer<typeof TrajectoryEvent>;
