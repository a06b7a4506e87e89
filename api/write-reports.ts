import { existsSync } from "node:fs";
import { join } from "node:path";
import type { RunCard } from "../core/model/run-card.ts";
import { renderRunCard } from "../core/report/build-run-card.ts";
import type { ReportJob } from "../core/report/report-job.ts";
import { renderReport } from "../core/report/render-report.ts";
import { readFileBytes } from "../stores/files/read-file.ts";
import { writeAtomic } from "../stores/files/write-atomic.ts";
import { findControls, jobCard, readJobsAt, runCard } from "./read-reports.ts";
import type { EndedRun } from "./run-benchmark.ts";

export const CARD_FILE = "run-card.json";
export const REPORT_FILE = "report.md";
/** Of either file. */
export const MAX_REPORT_BYTES = 256 * 1024 * 1024;

/**
 * Writes report.md and run-card.json into every job of an ended run, and for a run with repeats into
 * its jobs folder, where the controls below that folder are told too. Each is a function of the files
 * that stand there, so a resume with nothing to do changes no byte. Throws `BenchError` (`unavailable`)
 * when the disk fails; the results are whole then.
 */
export async function writeReports({ plan, jobs }: Pick<EndedRun, "plan" | "jobs">): Promise<void> {
  const reports: ReportJob[] = [];
  // A new job in which the cap let nothing start has left no folder.
  for (const { jobDir } of jobs.filter((job) => existsSync(job.jobDir))) {
    const [report] = await readJobsAt([jobDir]);
    if (report === undefined) continue;
    await writeReport(jobDir, jobCard(report));
    reports.push(report);
  }
  const { trials, jobsDir } = plan.settings;
  if (trials === 1 || reports.length === 0) return;
  const own = new Set(reports.map(({ job }) => job.path));
  const controls = (await findControls(jobsDir)).filter((path) => !own.has(path));
  await writeReport(jobsDir, runCard(jobsDir, [...reports, ...(await readJobsAt(controls))]));
}

async function writeReport(folder: string, card: RunCard): Promise<void> {
  await replace(join(folder, CARD_FILE), renderRunCard(card));
  await replace(join(folder, REPORT_FILE), renderReport(card));
}

async function replace(path: string, text: string): Promise<void> {
  const there = readFileBytes(path, MAX_REPORT_BYTES);
  if (there.kind === "read" && Buffer.from(text).equals(there.bytes)) return;
  await writeAtomic(path, text, { syncFolder: true });
}
