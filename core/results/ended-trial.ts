import type { TrialRecord } from "../model/record.ts";
import type { TrajectoryEvent } from "../model/trajectory.ts";

/** An attempt that ended, with what its side files tell beside the record. */
export interface EndedTrial {
  readonly record: TrialRecord;
  /** The task's prompt. */
  readonly instruction: string;
  /** What was really sent to an agent, in order; nothing for the controls. */
  readonly prompts: readonly string[];
  readonly events: readonly TrajectoryEvent[];
  /** The attempt's folder as a reader finds it: the jobs folder as typed, the job, the rollout. */
  readonly rolloutDir: string;
  /** What local time adds to UTC, in minutes, when the trial started. */
  readonly utcOffsetMinutes: number;
}

/** The numeric keys of a reward map, without those that are no number. */
export function numericRewards(record: TrialRecord): Record<string, number> {
  const numbers = Object.entries(countedRewards(record)).filter(
    (entry): entry is [string, number] => typeof entry[1] === "number" && Number.isFinite(entry[1]),
  );
  return Object.fromEntries(numbers);
}

/** The rewards of a scored trial; a withheld reward is none. */
export function countedRewards(record: TrialRecord): Record<string, unknown> {
  return record.outcome.kind === "scored" ? (record.rewards ?? {}) : {};
}

/** The reward that counts, or null. */
export function rewardOf(record: TrialRecord): number | null {
  return record.outcome.kind === "scored" ? record.outcome.reward : null;
}
