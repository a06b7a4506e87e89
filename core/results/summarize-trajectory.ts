import type { TrajectoryEvent } from "../model/trajectory.ts";
import type { TrajectorySummary } from "../model/trial-result.ts";

const NAMED = new Set(["tool_call", "user_message", "agent_message", "agent_thought"]);

/** Counts of a trajectory's events by kind (spec 1.4 #18). */
export function summarizeTrajectory(
  events: readonly TrajectoryEvent[],
  about: Pick<TrajectorySummary, "partial_trajectory" | "trajectory_source">,
): TrajectorySummary {
  const types = countBy(events.map((event) => event.type));
  const statuses = countBy(
    events.flatMap((event) => (event.type === "tool_call" ? [event.status] : [])),
  );
  return {
    steps: events.length,
    tool_call_steps: types["tool_call"] ?? 0,
    user_message_steps: types["user_message"] ?? 0,
    agent_message_steps: types["agent_message"] ?? 0,
    agent_thought_steps: types["agent_thought"] ?? 0,
    other_steps: events.filter((event) => !NAMED.has(event.type)).length,
    event_type_counts: types,
    tool_call_status_counts: statuses,
    partial_trajectory: about.partial_trajectory,
    trajectory_source: about.trajectory_source,
  };
}

/** How often each word occurs, in order of first occurrence. */
export function countBy(words: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return Object.fromEntries(counts);
}
