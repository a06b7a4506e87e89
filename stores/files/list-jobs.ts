import type { Dirent } from "node:fs";
import { dirname, basename, join } from "node:path";
import { compareNames } from "../../core/plan/compare-names.ts";
import { isAutomaticJobName } from "../../core/plan/job-name.ts";
import { taskNameOf } from "../../core/plan/rollout-name.ts";
import type { JobRef } from "../../core/ports/job-store.ts";
import { LEASE_FOLDER, LOCK_FILE } from "./lease.ts";
import { listEntries } from "./read-attempts.ts";
import { isTemporaryName } from "./temporary-name.ts";

export const EVALUATION_FILE = "evaluation.json";

/** `<jobs>/<alias>/trial-NN/<job>`, and one folder above for people who name its parent. */
const MAX_DEPTH = 4;

/**
 * The jobs below `root`, which may be one itself, in byte order of their paths. Folders are looked
 * into to a fixed depth, never through a link and never below a job.
 */
export async function* findJobs(root: string, depth = 0): AsyncGenerator<JobRef> {
  const entries = await listEntries(root);
  if (isJob(basename(root), entries)) {
    yield { jobsDir: dirname(root), jobName: basename(root) };
    return;
  }
  if (depth === MAX_DEPTH) return;
  const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith("."));
  for (const name of folders.map((folder) => folder.name).toSorted(compareNames)) {
    yield* findJobs(join(root, name), depth + 1);
  }
}

/** Known by what a job alone holds. A summary.json is no sign: a jobs folder has a copy of one. */
function isJob(name: string, entries: readonly Dirent[]): boolean {
  const hasFile = (file: string): boolean =>
    entries.some((entry) => entry.name === file && entry.isFile());
  const hasAttempt = entries.some(
    (entry) => entry.isDirectory() && taskNameOf(entry.name) !== null,
  );
  return (
    hasAttempt ||
    hasFile(EVALUATION_FILE) ||
    hasFile(LOCK_FILE) ||
    entries.some((entry) => entry.name === LEASE_FOLDER) ||
    (isAutomaticJobName(name) && hasFile("summary.json"))
  );
}

/** What may lie in a job folder beside its attempts: the contract's files and our own. */
const JOB_FILES = new Set([
  EVALUATION_FILE,
  LEASE_FOLDER,
  LOCK_FILE,
  ".bench-sync.json",
  "summary.json",
  "results.jsonl",
  "results.errors.json",
  "verifiers.jsonl",
  "adp.jsonl",
  "learner_store.json",
  "run-card.json",
  "report.md",
  "regrade-summary.json",
]);

/** Whether the folder holds other things and no job of anyone. */
export function isForeign(name: string, entries: readonly Dirent[]): boolean {
  if (isJob(name, entries)) return false;
  return entries.some((entry) => !isJobFile(entry.name));
}

export function isJobFile(name: string): boolean {
  return JOB_FILES.has(name) || isTemporaryName(name);
}
