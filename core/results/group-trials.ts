import type { TrialRecord } from "../model/record.ts";
import { compareNames } from "../plan/compare-names.ts";
import { groupBy } from "../plan/group-by.ts";
import { mayEqual } from "../plan/trial-version.ts";
import { compareAttempts, standingRecord } from "../plan/standing-record.ts";

/** A trial of one job: the attempt whose outcome is the trial's, and all that were made. */
export interface Trial {
  readonly taskName: string;
  readonly record: TrialRecord;
  /** In the order in which they were made; `record` is one of them. */
  readonly attempts: readonly TrialRecord[];
  /** Scored attempts beside the one that counts: anomalies, never averaged in. */
  readonly duplicates: readonly TrialRecord[];
}

/** One job's trials in order of task name, and what is missing from them. */
export interface JobTrials {
  readonly trials: readonly Trial[];
  /** Planned tasks that no attempt was made of, in order. */
  readonly neverStarted: readonly string[];
  /** Attempts at another version of a task, with other settings, or of a task that is not planned. */
  readonly superseded: readonly TrialRecord[];
  /**
   * Attempts that could call a model and left no result that can be read or believed: nobody knows what
   * they cost.
   */
  readonly killedAttempts: number;
  /** Those of them whose result.json is there, and torn, malformed or not what was sealed; absent for none. */
  readonly unreadableAttempts?: number;
}

export interface PlannedTask {
  readonly name: string;
  readonly digest: string | null;
  readonly contextDigest: string | null;
}

/** What a job was to measure. Digests are null where the job does not know them. */
export interface PlannedMeasurement {
  readonly settingsDigest: string | null;
  readonly tasks: readonly PlannedTask[];
}

export interface UnknownAttempts {
  readonly killed?: number;
  readonly unreadable?: number;
}

/**
 * Sorts attempts into trials. With a plan only attempts at the planned version of a planned task
 * count; without one (a job by BenchFlow, or a lost evaluation.json) the version of a task's last
 * attempt does. The result depends on the records alone, never on their order or on file times.
 * `unknown` says how many beside them called models: those that left no result, and those whose result is
 * no evidence of anything.
 */
export function groupTrials(
  records: readonly TrialRecord[],
  planned: PlannedMeasurement | null,
  { killed = 0, unreadable = 0 }: UnknownAttempts = {},
): JobTrials {
  const byTask = groupBy(records, (record) => record.taskName);
  const wanted = planned === null ? lastVersions(byTask) : plannedVersions(planned);
  const trials: Trial[] = [];
  const superseded: TrialRecord[] = [];
  for (const [taskName, attempts] of byTask) {
    const version = wanted.get(taskName);
    const own = attempts.filter((record) => isOf(record, version));
    superseded.push(...attempts.filter((record) => !isOf(record, version)));
    if (own.length > 0) trials.push(toTrial(taskName, own));
  }
  const started = new Set(trials.map((trial) => trial.taskName));
  return {
    trials: trials.toSorted((a, b) => compareNames(a.taskName, b.taskName)),
    neverStarted: [...wanted.keys()].filter((name) => !started.has(name)).toSorted(compareNames),
    superseded: superseded.toSorted(
      (a, b) => compareNames(a.taskName, b.taskName) || compareAttempts(a, b),
    ),
    killedAttempts: killed + unreadable,
    unreadableAttempts: unreadable,
  };
}

type Version = Pick<TrialRecord, "taskDigest" | "contextDigest" | "settingsDigest">;

function plannedVersions(planned: PlannedMeasurement): Map<string, Version> {
  const { settingsDigest } = planned;
  return new Map(
    planned.tasks.map(({ name, digest, contextDigest }) => [
      name,
      { taskDigest: digest, contextDigest, settingsDigest },
    ]),
  );
}

function lastVersions(byTask: ReadonlyMap<string, readonly TrialRecord[]>): Map<string, Version> {
  const versions = new Map<string, Version>();
  for (const [taskName, attempts] of byTask) {
    const last = attempts.toSorted(compareAttempts).at(-1);
    if (last !== undefined) versions.set(taskName, last);
  }
  return versions;
}

function isOf(record: TrialRecord, version: Version | undefined): boolean {
  return (
    version !== undefined &&
    mayEqual(record.taskDigest, version.taskDigest) &&
    mayEqual(record.contextDigest, version.contextDigest) &&
    mayEqual(record.settingsDigest, version.settingsDigest)
  );
}

function toTrial(taskName: string, attempts: readonly TrialRecord[]): Trial {
  const ordered = attempts.toSorted(compareAttempts);
  const { record, duplicates } = ordered.some((attempt) => attempt.attempt !== null)
    ? standingRecord(ordered)
    : newestScored(ordered);
  if (record === null) throw new Error(`trial of ${taskName} without an attempt`);
  return { taskName, record, attempts: ordered, duplicates };
}

/**
 * BenchFlow numbers no attempts and lets a retry replace what it retried, so among its scored
 * attempts the newest is the one that its own summary counts (spec 3.3 [N]).
 */
function newestScored(ordered: readonly TrialRecord[]): ReturnType<typeof standingRecord> {
  const scored = ordered.filter(({ outcome }) => outcome.kind === "scored");
  return { record: scored.at(-1) ?? ordered.at(-1) ?? null, duplicates: scored.slice(0, -1) };
}

/** All attempts of a job: what its spending is the sum of. */
export function allAttempts(job: JobTrials): TrialRecord[] {
  return [...job.trials.flatMap((trial) => trial.attempts), ...job.superseded];
}
