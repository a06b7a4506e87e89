import type { Evaluation } from "../model/evaluation.ts";
import type { TrialRecord } from "../model/record.ts";

/** What one attempt's folder of an earlier command turned out to be. */
export type EarlierAttempt = {
  readonly rolloutName: string;
  readonly taskName: string;
} & (
  | { readonly kind: "ended"; readonly record: TrialRecord }
  /** Started, and killed before it wrote a result (failures C-4). */
  | { readonly kind: "unfinished" }
  /** `doubtful`: what it reads as, where it reads at all but is not what its seal says it was. */
  | {
      readonly kind: "quarantined";
      readonly reason: string;
      readonly doubtful: TrialRecord | null;
    }
);

/** A job that is there before the run, as far as the plan needs it. */
export interface EarlierJob {
  readonly jobsDir: string;
  readonly jobName: string;
  /** Path for messages. */
  readonly dir: string;
  readonly evaluation: Evaluation | null;
  /** Why evaluation.json could not be read, else null. */
  readonly evaluationProblem: string | null;
  /** Null when the plan does not depend on them and they were not read. */
  readonly attempts: readonly EarlierAttempt[] | null;
  /** No job of anyone: a folder that holds other things. */
  readonly foreign: boolean;
}

/** The records of the attempts that ended, in the order given. */
export function endedRecords(attempts: readonly EarlierAttempt[]): TrialRecord[] {
  return attempts.flatMap((attempt) => (attempt.kind === "ended" ? [attempt.record] : []));
}

export function recordsOf(job: EarlierJob): TrialRecord[] {
  return endedRecords(job.attempts ?? []);
}

/**
 * The settings that a job was run with: as recorded in evaluation.json, else the one digest that all
 * its results carry, else null.
 */
export function settingsDigestOf(job: EarlierJob): string | null {
  const recorded = job.evaluation?.settings_digest ?? null;
  if (recorded !== null || job.evaluation !== null) return recorded;
  const digests = new Set(recordsOf(job).map(({ settingsDigest }) => settingsDigest));
  const [digest = null] = digests;
  return digests.size === 1 ? digest : null;
}
