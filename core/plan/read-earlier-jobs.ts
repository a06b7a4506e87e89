import { Evaluation } from "../model/evaluation.ts";
import type { RunSettings } from "../model/settings.ts";
import type { JobRef, JobStore, StoredAttempt, StoredJob } from "../ports/job-store.ts";
import { nestingDepth } from "../results/describe-value.ts";
import { parseLenientJson } from "../results/parse-lenient-json.ts";
import { readTrialResult } from "../results/read-trial-result.ts";
import { isSameMeasurement, isSameTasksDir, resumeCandidates } from "./choose-job.ts";
import type { EarlierAttempt, EarlierJob } from "./earlier-job.ts";
import { repeatDirs } from "./repeat-dirs.ts";
import { taskNameOf } from "./rollout-name.ts";

export interface EarlierQuestion {
  readonly settings: RunSettings;
  readonly settingsDigest: string;
}

/**
 * Finds the jobs that the plan of these settings can depend on, and reads their attempts only where
 * it does: thousands of old results in the same jobs folder cost one small file each.
 */
export async function readEarlierJobs(
  store: JobStore,
  question: EarlierQuestion,
): Promise<EarlierJob[]> {
  const found: EarlierJob[] = [];
  for (const { jobsDir } of repeatDirs(question.settings)) {
    found.push(...(await readJobsFolder(store, jobsDir, question)));
  }
  return found;
}

/** A job with all its attempts, parsed and judged readable or not. */
export async function readEarlierJob(store: JobStore, ref: JobRef): Promise<EarlierJob> {
  return await withAttempts(await store.readJob(ref));
}

/** A job's evaluation.json alone, without its thousands of attempts; null when it cannot be read. */
export async function readEvaluation(store: JobStore, ref: JobRef): Promise<Evaluation | null> {
  return parseEvaluation(await store.readJob(ref)).evaluation;
}

/** What an attempt's folder turned out to be. */
export function readEarlierAttempt(stored: StoredAttempt): EarlierAttempt {
  const { rolloutName, result, problem, seal, hasEvidence } = stored;
  const taskName = taskNameOf(rolloutName) ?? rolloutName;
  const quarantine = (reason: string): EarlierAttempt => ({
    kind: "quarantined",
    rolloutName,
    taskName,
    reason,
    doubtful: null,
  });
  if (problem !== null) return quarantine(`result.json ${problem}`);
  if (result === null) return { kind: "unfinished", rolloutName, taskName };
  const reading = readTrialResult(result, {
    rolloutName,
    evidence: { workspaceSaved: hasEvidence },
  });
  if (reading.kind === "malformed") return quarantine(`result.json: ${reading.reason}`);
  // A recorded workspace that is gone cannot be verified again.
  const workspaceSaved = reading.record.workspaceSaved && hasEvidence;
  const record = { ...reading.record, workspaceSaved };
  if (seal === "broken") {
    const reason = "result.json is not what seal.json says it was";
    const { taskName: task } = record;
    return { kind: "quarantined", rolloutName, taskName: task, reason, doubtful: record };
  }
  return { kind: "ended", rolloutName, taskName: record.taskName, record };
}

/** The jobs of one jobs folder that the plan can depend on, as `readEarlierJobs` finds them. */
export async function readJobsFolder(
  store: JobStore,
  jobsDir: string,
  question: EarlierQuestion,
): Promise<EarlierJob[]> {
  const { jobName, fresh } = question.settings;
  const names = await store.jobNames(jobsDir);
  if (jobName !== null) {
    if (!names.includes(jobName)) return [];
    return [await readEarlierJob(store, { jobsDir, jobName })];
  }
  if (fresh) return [];
  const candidates = resumeCandidates(names.map((name) => ({ jobName: name })));
  const passed: { readonly stored: StoredJob; readonly header: EarlierJob }[] = [];
  for (const candidate of candidates) {
    const stored = await store.readJob({ jobsDir, jobName: candidate.jobName });
    const header = await readHeader(stored);
    if (isSameMeasurement(header, question)) {
      return [...passed.map((job) => job.header), await withAttempts(stored)];
    }
    passed.push({ stored, header });
  }
  return await withStranded(passed, question);
}

/** The newest job of the same tasks may have cost money: the plan needs its attempts to say so. */
async function withStranded(
  passed: readonly { readonly stored: StoredJob; readonly header: EarlierJob }[],
  { settings }: EarlierQuestion,
): Promise<EarlierJob[]> {
  const stranded = passed.find(({ header }) => isSameTasksDir(header, settings));
  return await Promise.all(
    passed.map(async (job) => (job === stranded ? await withAttempts(job.stored) : job.header)),
  );
}

/**
 * The job without its attempts; where evaluation.json is lost, with the first result that can be
 * read, whose digest then says which settings it was run with (failures C-12).
 */
export async function readHeader(stored: StoredJob): Promise<EarlierJob> {
  const header = parseHeader(stored);
  if (header.evaluation !== null) return header;
  for await (const attempt of stored.attempts()) {
    const earlier = readEarlierAttempt(attempt);
    if (earlier.kind === "ended") return { ...header, attempts: [earlier] };
  }
  return header;
}

async function withAttempts(stored: StoredJob): Promise<EarlierJob> {
  const attempts: EarlierAttempt[] = [];
  for await (const attempt of stored.attempts()) attempts.push(readEarlierAttempt(attempt));
  return { ...parseHeader(stored), attempts };
}

function parseHeader(stored: StoredJob): EarlierJob {
  const { jobsDir, jobName, dir, foreign } = stored;
  const { evaluation, problem } = parseEvaluation(stored);
  return { jobsDir, jobName, dir, foreign, evaluation, evaluationProblem: problem, attempts: null };
}

const MAX_DEPTH = 20;

function parseEvaluation(stored: StoredJob): {
  readonly evaluation: Evaluation | null;
  readonly problem: string | null;
} {
  if (stored.evaluation === null) return { evaluation: null, problem: stored.evaluationProblem };
  const json = parseLenientJson(stored.evaluation);
  if (json.kind === "malformed") return { evaluation: null, problem: `is ${json.reason}` };
  if (nestingDepth(json.value, MAX_DEPTH) > MAX_DEPTH) {
    return { evaluation: null, problem: `nests more than ${MAX_DEPTH} levels deep` };
  }
  const parsed = Evaluation.safeParse(json.value);
  if (parsed.success) return { evaluation: parsed.data, problem: null };
  const [issue] = parsed.error.issues;
  const at = issue?.path.join(".") ?? "";
  return { evaluation: null, problem: `is wrong at ${at || "its top"}: ${issue?.message ?? ""}` };
}
