import type { TrialRecord } from "../model/record.ts";
import { compareNames } from "./compare-names.ts";

/**
 * Orders the attempts of one trial: by attempt number, then by name. Records without a number
 * (BenchFlow's) come first, by start time. Never by a file's time, which a copy resets (failures C-7).
 */
export function compareAttempts(a: TrialRecord, b: TrialRecord): number {
  const byNumber = (a.attempt ?? 0) - (b.attempt ?? 0);
  if (byNumber !== 0) return byNumber;
  const byStart = a.attempt === null ? compareNames(a.startedAt, b.startedAt) : 0;
  return byStart === 0 ? compareNames(a.rolloutName, b.rolloutName) : byStart;
}

export interface Standing {
  /** The attempt whose outcome is the trial's: the first scored one, else the last; null for none. */
  readonly record: TrialRecord | null;
  /** Scored attempts after the first: anomalies, since a scored trial is never drawn again. */
  readonly duplicates: readonly TrialRecord[];
}

/**
 * Which of one trial's attempts counts (statistics D1). The first score stands: any rule that lets a
 * later one replace it would make drawing again a way to a better score.
 */
export function standingRecord(attempts: readonly TrialRecord[]): Standing {
  const ordered = attempts.toSorted(compareAttempts);
  const [first, ...duplicates] = ordered.filter(({ outcome }) => outcome.kind === "scored");
  return { record: first ?? ordered.at(-1) ?? null, duplicates };
}
