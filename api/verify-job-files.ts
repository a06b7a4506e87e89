import { join } from "node:path";
import { SandboxKind } from "../core/model/settings.ts";
import { JobSummary } from "../core/model/summary.ts";
import { firstDifference, firstLineDifference } from "../core/report/first-difference.ts";
import type { ReportJob } from "../core/report/report-job.ts";
import { type JobFacts, summarizeJob } from "../core/results/summarize-job.ts";
import { readJobLines } from "../stores/job-reader/read-job-lines.ts";
import { readTextFile } from "../stores/job-reader/read-text-file.ts";

const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** What is wrong with a job's own files, and what of them could not be checked. */
export interface JobFileCheck {
  readonly differences: readonly { readonly file: string; readonly what: string }[];
  readonly notes: readonly { readonly file: string; readonly what: string }[];
}

/** summary.json and the jsonl files made again from the job's trials, and compared. */
export async function verifyJobFiles(report: ReportJob): Promise<JobFileCheck> {
  const summary = JobSummary.safeParse(report.job.summary);
  if (!summary.success) return unreadableSummary(report.job.summary);
  return {
    differences: [...summaryDifferences(report, summary.data), ...(await lineDifferences(report))],
    notes: [],
  };
}

function unreadableSummary(summary: unknown): JobFileCheck {
  const file = "summary.json";
  if (summary === null) {
    return { differences: [{ file, what: "is missing or is no JSON" }], notes: [] };
  }
  const isOurs = typeof summary === "object" && "coverage" in summary;
  const what = "is not as this edition writes it";
  return isOurs
    ? { differences: [{ file, what }], notes: [] }
    : { differences: [], notes: [{ file, what: `${what}: its numbers were not compared` }] };
}

function summaryDifferences(report: ReportJob, found: JobSummary): JobFileCheck["differences"] {
  const { job } = report;
  const again = summarizeJob(factsOf(report, found), {
    records: job.records,
    planned: job.planned,
    quarantined: job.quarantined,
    killedAttempts: job.killedAttempts,
    budget: found.budget ?? null,
  });
  const difference = firstDifference(
    comparable(found, job.jobName),
    comparable(again, job.jobName),
  );
  if (difference === null) return [];
  const what = `${difference.path} is ${difference.found}, and ${difference.expected} by its trials`;
  return [{ file: "summary.json", what }];
}

/** What the job was asked to do, by evaluation.json; by the summary itself where that is lost. */
function factsOf({ job, evaluation }: ReportJob, found: JobSummary): JobFacts {
  const config = evaluation?.config ?? {};
  const { agent, model, environment, agent_idle_timeout: idle } = config;
  return {
    jobName: job.jobName,
    agent: typeof agent === "string" ? agent : found.agent,
    model: typeof model === "string" || model === null ? model : found.model,
    environment: SandboxKind.safeParse(environment).data ?? found.environment,
    // A resume may have another width, which changes no number.
    concurrency: found.concurrency,
    // 0 is none.
    agentIdleTimeoutSec: typeof idle === "number" ? idle || null : found.agent_idle_timeout_sec,
  };
}

/** Without the tasks' origin, which the trials have, and with paths below the job alone. */
function comparable(summary: JobSummary, jobName: string): unknown {
  const { source: _, quarantined, ...rest } = summary;
  const below = quarantined.map(({ path, reason }) => ({
    path: path.slice(Math.max(0, path.lastIndexOf(`${jobName}/`))),
    reason,
  }));
  return JSON.parse(JSON.stringify({ ...rest, quarantined: below }));
}

async function lineDifferences({ job }: ReportJob): Promise<JobFileCheck["differences"]> {
  const rollouts = job.trials.map(({ record }) => record.rolloutName);
  const differences: { file: string; what: string }[] = [];
  for (const [name, text] of await readJobLines(job.path, rollouts)) {
    const found = readTextFile(join(job.path, name), MAX_FILE_BYTES);
    if (found.kind !== "text") {
      differences.push({
        file: name,
        what: found.kind === "missing" ? "is missing" : found.reason,
      });
      continue;
    }
    const line = firstLineDifference(found.text, text);
    if (line !== null) {
      differences.push({ file: name, what: `line ${line} is not that of its trial` });
    }
  }
  return differences;
}
