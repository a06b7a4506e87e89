import { stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { BenchError } from "../../core/errors.ts";
import { Evaluation } from "../../core/model/evaluation.ts";
import type { Quarantined, TrialRecord } from "../../core/model/record.ts";
import { readEarlierAttempt } from "../../core/plan/read-earlier-jobs.ts";
import type { JobRef } from "../../core/ports/job-store.ts";
import type { PlannedMeasurement, Trial } from "../../core/results/group-trials.ts";
import { toLoadedJob, toLoadedJobs } from "../../core/results/loaded-job.ts";
import type {
  AttemptFiles,
  InterruptedAttempt,
  LoadedJob,
  LoadedJobs,
  RunBy,
} from "../../core/results/loaded-job.ts";
import { findJobs } from "../files/list-jobs.ts";
import { readAttempts } from "../files/read-attempts.ts";
import { isMissing, storeError } from "../files/store-error.ts";
import { readAttemptFiles, readInterrupted, withFailedTest } from "./read-attempt-details.ts";
import { readJsonFile } from "./read-text-file.ts";

const MAX_JOB_FILE_BYTES = 64 * 1024 * 1024;

/**
 * Reads a job's folder, or every job below a folder: a jobs folder, the repeats of a run, the tree
 * of a matrix; written by us or by BenchFlow 0.6 to 0.9 (spec 12.5). Everything is counted anew from
 * the trials: the first score of a trial counts, attempts without a result are `interrupted`, files
 * that cannot be trusted are `quarantined` with the reason and make no other unreadable. No link is
 * followed and nothing is written. Throws `BenchError`: `usage` when there is no such folder or no
 * job in it, `unavailable` when the disk fails.
 */
export async function loadJob(path: string): Promise<LoadedJobs> {
  const root = plainPath(path);
  await checkIsFolder(path, root);
  const jobs: LoadedJob[] = [];
  for await (const ref of findJobs(root)) jobs.push(await readJob(ref));
  if (jobs.length === 0) {
    throw new BenchError("usage", `no job in ${JSON.stringify(path)}`, {
      next: "give a jobs folder or one job of it; `bench run` makes them",
    });
  }
  const isJob = jobs.length === 1 && jobs[0]?.path === root;
  return toLoadedJobs(root, isJob ? "evaluation" : "directory", jobs);
}

/** A trailing slash, `.` or `..` would hide the name of a folder that is a job itself. */
function plainPath(path: string): string {
  const name = basename(path);
  return name === "." || name === ".." || path === "" ? resolve(path) : join(dirname(path), name);
}

async function checkIsFolder(path: string, root: string): Promise<void> {
  const next = "give a jobs folder or one job of it, for example `bench results jobs`";
  try {
    if ((await stat(root)).isDirectory()) return;
  } catch (error) {
    if (!isMissing(error)) throw storeError(error, "read", root);
    throw new BenchError("usage", `there is no folder ${JSON.stringify(path)}`, { next });
  }
  throw new BenchError("usage", `${JSON.stringify(path)} is not a folder`, { next });
}

async function readJob({ jobsDir, jobName }: JobRef): Promise<LoadedJob> {
  const path = join(jobsDir, jobName);
  const records: TrialRecord[] = [];
  const interrupted: InterruptedAttempt[] = [];
  const quarantined: Quarantined[] = [];
  const unreadable: RunBy[] = [];
  const recovered: string[] = [];
  for await (const stored of readAttempts(path)) {
    const attempt = readEarlierAttempt(stored);
    if (stored.recovered) recovered.push(stored.rolloutName);
    if (attempt.kind === "ended") records.push(attempt.record);
    else if (attempt.kind === "unfinished") interrupted.push(readInterrupted(path, attempt));
    else {
      quarantined.push({ path: join(path, attempt.rolloutName), reason: attempt.reason });
      unreadable.push(readInterrupted(path, attempt));
    }
  }
  const evaluation = readEvaluation(path);
  const found = {
    path,
    jobName,
    ...repeatOf(jobsDir),
    planned: evaluation === null ? null : plannedBy(evaluation),
    asked: evaluation === null ? null : askedBy(evaluation),
    records,
    interrupted,
    quarantined,
    unreadable,
    recovered,
    files: new Map<string, AttemptFiles>(),
    summary: readJsonFile(join(path, "summary.json"), MAX_JOB_FILE_BYTES) ?? null,
  };
  return await withDetails(toLoadedJob(found));
}

/** Trials looked at before other work of the process has its turn. */
const TRIALS_AT_ONCE = 64;

/** Details of the attempts that count; the many that do not are not looked at again. */
async function withDetails(job: LoadedJob): Promise<LoadedJob> {
  const files = new Map<string, AttemptFiles>();
  const trials: Trial[] = [];
  for (const trial of job.trials) {
    if (trials.length % TRIALS_AT_ONCE === 0) await setImmediate();
    const dir = join(job.path, trial.record.rolloutName);
    const found = readAttemptFiles(dir);
    files.set(trial.record.rolloutName, found);
    trials.push({ ...trial, record: withFailedTest(trial.record, dir, found) });
  }
  return { ...job, trials, files };
}

/** What the job was asked to do; null for jobs by BenchFlow 0.7 and where the file is lost. */
function readEvaluation(jobDir: string): Evaluation | null {
  const value = readJsonFile(join(jobDir, "evaluation.json"), MAX_JOB_FILE_BYTES);
  return Evaluation.safeParse(value).data ?? null;
}

function askedBy({ config: { agent, model } }: Evaluation): RunBy {
  const [named, withModel] = [agent, model].map((name) => (typeof name === "string" ? name : null));
  return { agent: named ?? null, model: withModel ?? null };
}

/** The tasks at their versions; null where the file does not list them. */
function plannedBy(evaluation: Evaluation): PlannedMeasurement | null {
  if (evaluation.tasks === null) return null;
  const tasks = evaluation.tasks.map(({ name, digest, context_digest: contextDigest }) => ({
    name,
    digest,
    contextDigest,
  }));
  return { settingsDigest: evaluation.settings_digest, tasks };
}

/** `<jobs>/<alias>/trial-NN/<job>`: which repeat of which agent a job is (spec 4.1). */
function repeatOf(jobsDir: string): Pick<LoadedJob, "alias" | "repeat"> {
  const repeat = /^trial-(\d{2,9})$/u.exec(basename(jobsDir))?.[1];
  if (repeat === undefined) return { alias: null, repeat: null };
  return { alias: basename(dirname(jobsDir)), repeat: Number(repeat) };
}
