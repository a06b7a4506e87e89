import type { JobPlan, PlannedTrial } from "../model/plan.ts";
import type { Task } from "../model/task.ts";
import { compareNames } from "./compare-names.ts";
import { groupBy } from "./group-by.ts";
import { decideTrial, nextAttemptNumber } from "./decide-trial.ts";
import { endedRecords, recordsOf } from "./earlier-job.ts";
import type { EarlierAttempt, EarlierJob } from "./earlier-job.ts";
import { compareAttempts, standingRecord } from "./standing-record.ts";
import { contextDigestOf, mayEqual } from "./trial-version.ts";

export interface JobPlanQuestion {
  readonly repeat: number;
  readonly jobsDir: string;
  readonly jobName: string;
  readonly settingsDigest: string;
  /** The tasks that can run, in the order in which they start. */
  readonly tasks: readonly Pick<Task, "name" | "digest" | "image">[];
  /** What the job folder holds; null for a new job. */
  readonly earlier: EarlierJob | null;
}

export interface PlannedJob {
  readonly job: JobPlan;
  readonly warnings: readonly string[];
}

/**
 * The plan of one repeat. Asked again with what the folder holds once its lease is taken, it gives
 * the plan that is really carried out, since another process may have worked there in between.
 */
export function planJob(question: JobPlanQuestion): PlannedJob {
  const { repeat, jobsDir, jobName, settingsDigest, earlier } = question;
  const attempts = groupBy(sortedAttempts(earlier), ({ taskName }) => taskName);
  const decisions = question.tasks.map((task) =>
    decideTrial({
      taskName: task.name,
      taskDigest: task.digest,
      contextDigest: contextDigestOf(task),
      settingsDigest,
      attempts: attempts.get(task.name) ?? [],
    }),
  );
  const trials = [
    ...decisions.map(({ trial }) => trial),
    ...keptBesideSelection(question, attempts),
  ];
  return {
    job: { repeat, jobsDir, jobName, resumed: earlier !== null, trials },
    warnings: [
      ...decisions.flatMap(({ warnings }) => warnings),
      ...(earlier === null ? [] : jobWarnings(earlier, settingsDigest)),
    ],
  };
}

/** Any order in which a disk lists folders gives the same plan. */
function sortedAttempts(earlier: EarlierJob | null): EarlierAttempt[] {
  return (earlier?.attempts ?? []).toSorted((a, b) => compareNames(a.rolloutName, b.rolloutName));
}

/**
 * Scores of tasks that this run does not select stay in the job's numbers (spec 3.3): a job is
 * measured by all that was scored in it.
 */
function keptBesideSelection(
  question: JobPlanQuestion,
  attempts: ReadonlyMap<string, readonly EarlierAttempt[]>,
): PlannedTrial[] {
  const selected = new Set(question.tasks.map(({ name }) => name));
  return [...attempts]
    .filter(([taskName]) => !selected.has(taskName))
    .toSorted(([a], [b]) => compareNames(a, b))
    .flatMap(([, ofTask]) => keptTrial(ofTask, question.settingsDigest));
}

/** The task's version now is unknown: that of its last attempt stands for it. */
function keptTrial(attempts: readonly EarlierAttempt[], settingsDigest: string): PlannedTrial[] {
  const records = endedRecords(attempts)
    .filter((record) => record.settingsDigest === settingsDigest)
    .toSorted(compareAttempts);
  const last = records.at(-1);
  const digest = last?.taskDigest ?? null;
  const contextDigest = last?.contextDigest ?? null;
  const ofVersion = records.filter(
    (record) => record.taskDigest === digest && mayEqual(record.contextDigest, contextDigest),
  );
  const { record } = standingRecord(ofVersion);
  if (record === null || digest === null || record.outcome.kind === "unscored") return [];
  const trial: PlannedTrial = {
    taskName: record.taskName,
    taskDigest: digest,
    contextDigest,
    action: "keep",
    why: `scored ${record.outcome.reward} in ${record.rolloutName}; not selected now`,
    attempt: nextAttemptNumber(attempts),
    rolloutName: record.rolloutName,
    verifierFailures: record.verification?.failures ?? 0,
  };
  return [trial];
}

function jobWarnings(earlier: EarlierJob, settingsDigest: string): string[] {
  const foreign = recordsOf(earlier).filter((record) => record.settingsDigest !== settingsDigest);
  const [first] = foreign.map(({ rolloutName }) => rolloutName).toSorted(compareNames);
  const mixed =
    first === undefined
      ? []
      : [`job ${earlier.dir} holds ${foreign.length} results of other settings, such as ${first}`];
  return earlier.evaluationProblem === null
    ? mixed
    : [`evaluation.json of job ${earlier.dir} ${earlier.evaluationProblem}`, ...mixed];
}
