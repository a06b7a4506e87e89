import { lstat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { BenchError } from "../core/errors.ts";
import { RunCard } from "../core/model/run-card.ts";
import type { VerificationReport } from "../core/model/verification-report.ts";
import type { ReportJob } from "../core/report/report-job.ts";
import { isMissing, storeError } from "../stores/files/store-error.ts";
import { checkJobSeals } from "../stores/job-reader/check-job-seals.ts";
import { loadJob } from "../stores/job-reader/load-job.ts";
import { readReportJobs } from "../stores/job-reader/read-report-jobs.ts";
import { readJsonFile } from "../stores/job-reader/read-text-file.ts";
import { VerificationFindings } from "./verification-findings.ts";
import { verifyCard, verifyOwnCards } from "./verify-cards.ts";
import { verifyJobFiles } from "./verify-job-files.ts";
import { CARD_FILE, MAX_REPORT_BYTES } from "./write-reports.ts";

/**
 * Checks a job, a tree of jobs or a run card against itself: every sealed file is hashed again, every
 * summary, run card and report is made again from the trials, and what differs is named. Nothing is
 * written. It says consistent, never authentic (attack 35). Throws `BenchError` (`usage`) where there
 * is nothing to verify.
 */
export async function verifyTree(path: string): Promise<VerificationReport> {
  const findings = new VerificationFindings();
  const cardPath = await findCard(path);
  const root = cardPath === null ? path : dirname(cardPath);
  const card = cardPath === null ? null : readCard(cardPath, findings);
  const isTree = cardPath === null || basename(path) !== basename(cardPath);
  const jobs = await loadJobs(root, { card, isTree }, findings);
  for (const job of jobs) await verifyJob(job, root, findings);
  if (card !== null) verifyCard(card, root, jobs, findings);
  if (isTree) verifyOwnCards(jobs, { root, isRootDone: cardPath !== null }, findings);
  if (findings.checked.cards === 0) {
    findings.notes.unshift(`there is no ${CARD_FILE}: no card and no report were compared`);
  }
  return findings.toReport();
}

/** The card itself, or the one in the folder; null for a folder without. */
async function findCard(path: string): Promise<string | null> {
  const next = "give a job, a jobs folder or a run-card.json";
  try {
    const found = await lstat(path);
    if (found.isFile()) return path;
    if (!found.isDirectory()) {
      throw new BenchError("usage", `${JSON.stringify(path)} is no folder and no card`, { next });
    }
    const card = join(path, CARD_FILE);
    const inside = await lstat(card).catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    });
    return inside?.isFile() === true ? card : null;
  } catch (error) {
    if (error instanceof BenchError) throw error;
    if (!isMissing(error)) throw storeError(error, "read", path);
    throw new BenchError("usage", `there is no ${JSON.stringify(path)}`, { next });
  }
}

function readCard(path: string, findings: VerificationFindings): RunCard | null {
  const parsed = RunCard.safeParse(readJsonFile(path, MAX_REPORT_BYTES));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.map(String).join(".") ?? "";
  findings.differs(basename(path), `is no run card${where === "" ? "" : `: ${where} is wrong`}`);
  findings.checked.cards += 1;
  return null;
}

/** The jobs that the card lists, and with a tree all others below it. */
async function loadJobs(
  root: string,
  { card, isTree }: { card: RunCard | null; isTree: boolean },
  findings: VerificationFindings,
): Promise<ReportJob[]> {
  const jobs = new Map<string, ReportJob>();
  for (const { path } of card?.jobs ?? []) {
    const below = relative(root, resolve(root, path));
    if (below.startsWith("..")) {
      findings.differs(path, `is listed in ${CARD_FILE} and lies outside of its folder`);
      continue;
    }
    const [job] = await loadIfThere(join(root, path));
    if (job === undefined) findings.differs(path, `is listed in ${CARD_FILE} and is gone`);
    else jobs.set(resolve(job.job.path), job);
  }
  const others = isTree || card === null ? await loadIfThere(root) : [];
  for (const job of others) {
    if (!jobs.has(resolve(job.job.path))) jobs.set(resolve(job.job.path), job);
  }
  if (jobs.size === 0 && findings.differences.length === 0) {
    throw new BenchError("usage", `no job in ${JSON.stringify(root)}`, {
      next: "give a job, a jobs folder or a run-card.json",
    });
  }
  return [...jobs.values()];
}

async function loadIfThere(path: string): Promise<ReportJob[]> {
  try {
    return await readReportJobs((await loadJob(path)).jobs);
  } catch (error) {
    if (error instanceof BenchError && error.kind === "usage") return [];
    throw error;
  }
}

async function verifyJob(
  report: ReportJob,
  root: string,
  findings: VerificationFindings,
): Promise<void> {
  const { path } = report.job;
  const inJob = (name: string): string => join(relative(resolve(root), resolve(path)), name);
  const seals = await checkJobSeals(path);
  for (const { attempt, what } of seals.problems) findings.differs(inJob(attempt), what);
  for (const name of seals.unsealed) findings.notes.push(`${inJob(name)} has no seal`);
  for (const name of seals.extra) findings.notes.push(`${inJob(name)} is in no seal`);
  findings.checked.jobs += 1;
  findings.checked.attempts += seals.attempts.length;
  findings.checked.sealed_files += seals.sealedFiles;
  const files = await verifyJobFiles(report);
  for (const { file, what } of files.differences) findings.differs(inJob(file), what);
  for (const { file, what } of files.notes) findings.notes.push(`${inJob(file)} ${what}`);
}
