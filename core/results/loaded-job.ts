import type { Quarantined, TrialRecord } from "../model/record.ts";
import { groupBy } from "../plan/group-by.ts";
import { countTrials } from "./count-trials.ts";
import type { TrialCounts } from "./count-trials.ts";
import { controlOf } from "./classify-trial.ts";
import { elapsedSecOf } from "./elapsed.ts";
import { allAttempts, groupTrials } from "./group-trials.ts";
import type { JobTrials, PlannedMeasurement, UnknownAttempts } from "./group-trials.ts";
import { sumSpend } from "./sum-spend.ts";
import type { Spend } from "./sum-spend.ts";

/** An attempt that was started and left no result: killed, or still running (spec 12.5). */
export interface InterruptedAttempt {
  /** Folder, relative to the job's. */
  readonly rolloutName: string;
  readonly taskName: string;
  readonly agent: string | null;
  readonly model: string | null;
  readonly startedAt: string | null;
  readonly sandboxId: string | null;
}

/** Files of an attempt that are there, as paths relative to its folder. */
export interface AttemptFiles {
  readonly ctrf: string | null;
  readonly rewardDetails: string | null;
  readonly rewardJson: string | null;
  readonly rewardText: string | null;
  readonly stdout: string | null;
  readonly stderr: string | null;
  readonly trajectory: string | null;
}

export interface RunBy {
  readonly agent: string | null;
  readonly model: string | null;
}

/** What was found in one job's folder, before anything is counted. */
export interface FoundJob {
  /** The folder, as a person can type it. */
  readonly path: string;
  readonly jobName: string;
  /** From `<alias>/trial-NN/<job>`; null for a plain job. */
  readonly alias: string | null;
  readonly repeat: number | null;
  readonly planned: PlannedMeasurement | null;
  /** Who was to run, by evaluation.json: all that a job knows before its first attempt says so. */
  readonly asked: RunBy | null;
  readonly records: readonly TrialRecord[];
  readonly interrupted: readonly InterruptedAttempt[];
  readonly quarantined: readonly Quarantined[];
  /** By whom the quarantined ones were made, as far as config.json tells; absent for nobody. */
  readonly unreadable?: readonly RunBy[];
  /** Rollout names of attempts whose seal a later command wrote. */
  readonly recovered: readonly string[];
  /** Files of the attempts that count, by rollout name. */
  readonly files: ReadonlyMap<string, AttemptFiles>;
  /** summary.json as it stands there: for reading only, never counted. */
  readonly summary: unknown;
}

/** One job, counted anew from its trials. */
export interface LoadedJob extends FoundJob, JobTrials {
  readonly agent: string;
  readonly model: string | null;
  /** `oracle` or `empty` (nop) for a control job, else null. */
  readonly control: "oracle" | "empty" | null;
  readonly counts: TrialCounts;
  /** Over all attempts. */
  readonly spend: Spend;
  /** Seconds in which an attempt was running. */
  readonly elapsedSec: number;
}

/** Groups and counts what was found; pure, and the same for any order of the records. */
export function toLoadedJob(found: FoundJob): LoadedJob {
  const unknown = unknownAttempts(found);
  const trials = groupTrials(found.records, found.planned, unknown);
  const started = whoRan(found);
  const agents = new Set(started.map((attempt) => attempt.agent ?? ""));
  const models = new Set(started.map((attempt) => attempt.model));
  const [agent = ""] = agents;
  const [model = null] = models;
  return {
    ...found,
    ...trials,
    agent: agents.size > 1 ? "(several)" : agent,
    model: models.size > 1 ? "(several)" : model,
    control: agents.size === 1 ? controlOf(agent) : null,
    counts: countTrials([trials]),
    spend: sumSpend(allAttempts(trials), trials.killedAttempts),
    elapsedSec: elapsedSecOf(found.records),
  };
}

/** Those that could call a model; what a control used is known to be nothing. */
function unknownAttempts({ interrupted, unreadable = [], asked }: FoundJob): UnknownAttempts {
  const asking = (attempts: readonly RunBy[]): number =>
    attempts.filter(({ model }) => (model ?? asked?.model ?? null) !== null).length;
  return { killed: asking(interrupted), unreadable: asking(unreadable) };
}

/** A job that was killed early, or has just begun, has no result that names its agent yet. */
function whoRan({ records, interrupted, asked }: FoundJob): readonly RunBy[] {
  if (records.length > 0) return records;
  const named = interrupted.filter(({ agent }) => agent !== null);
  return named.length > 0 || asked === null ? named : [asked];
}

/**
 * The jobs that measure together: the repeats of one agent under the same settings, and every other
 * job alone. In the order of the first job of each.
 */
export function runsOf(jobs: readonly LoadedJob[]): LoadedJob[][] {
  const runs = groupBy(jobs, ({ path, repeat, planned }) => {
    const settingsDigest = planned?.settingsDigest ?? null;
    const folder = path.split("/").slice(0, -2).join("/");
    return JSON.stringify(repeat === null ? [path] : [folder, settingsDigest]);
  });
  return [...runs.values()];
}

/** What `loadJob` gives: one job, or all jobs below a folder. */
export interface LoadedJobs {
  readonly path: string;
  /** `evaluation`: the path is one job. `directory`: it holds jobs, repeats or other folders of jobs. */
  readonly kind: "evaluation" | "directory";
  /** In order of their paths. */
  readonly jobs: readonly LoadedJob[];
  /** Over all jobs, controls included. */
  readonly counts: TrialCounts;
  readonly passed: number;
  readonly total: number;
  /** passed / total (the contract's `score`); null when nothing counts. */
  readonly score: number | null;
}

export function toLoadedJobs(
  path: string,
  kind: LoadedJobs["kind"],
  jobs: readonly LoadedJob[],
): LoadedJobs {
  const counts = countTrials(jobs);
  const { passed, total } = counts;
  return { path, kind, jobs, counts, passed, total, score: total === 0 ? null : passed / total };
}
