import { basename, relative, resolve } from "node:path";
import { Evaluation } from "../core/model/evaluation.ts";
import type { RunCard } from "../core/model/run-card.ts";
import { buildRunCard } from "../core/report/build-run-card.ts";
import type { ReportJob } from "../core/report/report-job.ts";
import { controlOf } from "../core/results/classify-trial.ts";
import { sha256Hex } from "../host/sha256-hex.ts";
import { EVALUATION_FILE, findJobs } from "../stores/files/list-jobs.ts";
import { loadJob } from "../stores/job-reader/load-job.ts";
import { readReportJobs } from "../stores/job-reader/read-report-jobs.ts";
import { readJsonFile } from "../stores/job-reader/read-text-file.ts";

const MAX_EVALUATION_BYTES = 64 * 1024 * 1024;

/**
 * The run card of one job, or of every job below a folder, counted anew from the files; controls are
 * told beside the scores. Nothing is written. Throws as `loadJob` does.
 */
export async function readRunCard(path: string, seed?: number): Promise<RunCard> {
  const loaded = await loadJob(path);
  const jobs = await readReportJobs(loaded.jobs);
  const [only] = jobs;
  if (loaded.kind === "evaluation" && only !== undefined) return jobCard(only, seed);
  return runCard(loaded.path, jobs, seed);
}

/** The jobs at these folders, as reports read them. */
export async function readJobsAt(paths: readonly string[]): Promise<ReportJob[]> {
  const jobs: ReportJob[] = [];
  for (const path of paths) jobs.push(...(await readReportJobs((await loadJob(path)).jobs)));
  return jobs;
}

/** Of one job alone: which repeat of a run it was is not told by its folder, so that it can be copied. */
export function jobCard(report: ReportJob, seed?: number): RunCard {
  const { job } = report;
  const alone = { ...report, job: { ...job, repeat: null, alias: null } };
  const input = { name: job.jobName, scope: "job" as const, jobs: [alone], pathOf: () => "." };
  return buildRunCard({ ...input, ...seeded(seed) }, sha256Hex);
}

/** Of a run's jobs; their paths are told relative to `root`, so that the tree can move. */
export function runCard(root: string, jobs: readonly ReportJob[], seed?: number): RunCard {
  const from = resolve(root);
  return buildRunCard(
    {
      name: basename(from),
      scope: "run",
      jobs,
      pathOf: (path) => relative(from, resolve(path)),
      ...seeded(seed),
    },
    sha256Hex,
  );
}

function seeded(seed: number | undefined): { seed?: number } {
  return seed === undefined ? {} : { seed };
}

/** Folders of the oracle and nop jobs below a jobs folder, told by what they were asked to do. */
export async function findControls(jobsDir: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { jobsDir: dir, jobName } of findJobs(jobsDir)) {
    const path = `${dir}/${jobName}`;
    const value = readJsonFile(`${path}/${EVALUATION_FILE}`, MAX_EVALUATION_BYTES);
    const agent = Evaluation.safeParse(value).data?.config["agent"];
    if (typeof agent === "string" && controlOf(agent) !== null) found.push(path);
  }
  return found;
}
