import { BenchError } from "../errors.ts";
import type { RunSettings } from "../model/settings.ts";
import { compareNames } from "./compare-names.ts";
import { settingsDigestOf } from "./earlier-job.ts";
import type { EarlierJob } from "./earlier-job.ts";
import { isAutomaticJobName } from "./job-name.ts";
import { differingSettings } from "./settings-digest.ts";
import type { ScoreSettings } from "./settings-digest.ts";
import { strandedSpend } from "./stranded-spend.ts";

export interface JobQuestion {
  readonly settings: RunSettings;
  readonly score: ScoreSettings;
  readonly settingsDigest: string;
  /** The jobs of one jobs folder, in any order. */
  readonly jobs: readonly EarlierJob[];
  readonly newJobName: string;
}

export type JobChoice =
  | { readonly kind: "resume"; readonly job: EarlierJob; readonly warnings: readonly string[] }
  | { readonly kind: "new"; readonly jobName: string; readonly warnings: readonly string[] };

/**
 * Which job of a jobs folder a run goes on with (spec 3.1, design 4). `--job-name` names it;
 * otherwise it is the newest automatically named one of the same tasks folder and settings, and a new
 * one when there is none. Folders of other names are never touched. Throws `BenchError` (`usage`)
 * when going on would mix settings, or strand a job that money was spent on (attack 6).
 */
export function chooseJob(question: JobQuestion): JobChoice {
  if (question.settings.jobName !== null) return chooseNamed(question, question.settings.jobName);
  if (question.settings.fresh) return startNew(question, []);
  const candidates = resumeCandidates(question.jobs);
  const match = candidates.find((job) => isSameMeasurement(job, question));
  if (match !== undefined) return { kind: "resume", job: match, warnings: [] };
  refuseStranding(question, candidates);
  const [newest] = candidates;
  if (newest === undefined) return startNew(question, []);
  return startNew(question, [
    `job ${newest.dir} is not resumed: ${whyNot(newest, question)}; a new job starts`,
  ]);
}

/** The jobs that a run without `--job-name` may resume, newest first by the time in their name. */
export function resumeCandidates<Job extends { readonly jobName: string }>(
  jobs: readonly Job[],
): Job[] {
  return jobs
    .filter(({ jobName }) => isAutomaticJobName(jobName))
    .toSorted((a, b) => compareNames(b.jobName, a.jobName));
}

/** Whether the job measures the same tasks folder under the same settings. */
export function isSameMeasurement(
  job: EarlierJob,
  { settings, settingsDigest }: Pick<JobQuestion, "settings" | "settingsDigest">,
): boolean {
  return settingsDigestOf(job) === settingsDigest && isSameTasksDir(job, settings);
}

/** True for a job whose tasks folder is unknown too: its results then carry the digests that count. */
export function isSameTasksDir(job: EarlierJob, settings: Pick<RunSettings, "tasksDir">): boolean {
  const recorded = job.evaluation?.tasks_dir ?? null;
  return recorded === null || plainPath(recorded) === plainPath(settings.tasksDir);
}

function chooseNamed(question: JobQuestion, jobName: string): JobChoice {
  const job = question.jobs.find((candidate) => candidate.jobName === jobName);
  if (job === undefined) return { kind: "new", jobName, warnings: [] };
  const refuse = (why: string): never => {
    throw new BenchError("usage", `job ${job.dir} ${why}`, {
      next: "choose another `--job-name`, or leave it out for a new job",
    });
  };
  if (question.settings.fresh) return refuse("exists, and --fresh starts a new job");
  if (job.foreign) return refuse("is a folder of other files, not a job");
  const digest = settingsDigestOf(job);
  const isEmpty = job.evaluation === null && job.attempts?.length === 0;
  if (digest !== question.settingsDigest && !isEmpty) {
    return refuse(`cannot be resumed: ${whyNot(job, question)}`);
  }
  const warnings = isSameTasksDir(job, question.settings)
    ? []
    : [`job ${job.dir} ran the tasks of ${job.evaluation?.tasks_dir ?? ""} before`];
  return { kind: "resume", job, warnings };
}

function startNew(question: JobQuestion, warnings: readonly string[]): JobChoice {
  return { kind: "new", jobName: question.newJobName, warnings };
}

function refuseStranding(question: JobQuestion, candidates: readonly EarlierJob[]): void {
  const job = candidates.find((candidate) => isSameTasksDir(candidate, question.settings));
  if (job === undefined || settingsDigestOf(job) === null) return;
  const spend = strandedSpend(job);
  if (spend === null) return;
  throw new BenchError(
    "usage",
    `job ${job.dir} is unfinished (${spend.scored} of ${spend.planned} trials scored, ${spend.spent}) and ${whyNot(job, question)}`,
    {
      next: `give those settings again to resume it, or pass --fresh to start over${spend.startingOver}`,
    },
  );
}

function whyNot(job: EarlierJob, question: JobQuestion): string {
  if (job.evaluationProblem !== null) return `its evaluation.json ${job.evaluationProblem}`;
  if (!isSameTasksDir(job, question.settings)) {
    return `it ran the tasks of ${job.evaluation?.tasks_dir ?? ""}`;
  }
  const digest = settingsDigestOf(job);
  if (digest === null) return "it does not say with which settings it was run";
  const recorded = job.evaluation?.settings ?? {};
  if (Object.keys(recorded).length === 0) return "it was run with other settings";
  const differing = differingSettings(recorded, question.score);
  return `it was run with other settings (${differing.join("; ")})`;
}

/** `./tasks/` and `tasks` are one folder; anything further would need the disk. */
function plainPath(path: string): string {
  const parts = path
    .split("/")
    .filter((part, index) => part !== "." && (part !== "" || index === 0));
  return parts.length === 0 ? "." : parts.join("/");
}
