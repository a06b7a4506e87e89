import type { CloudRun } from "../../core/model/cloud-work.ts";
import { readEarlierAttempt } from "../../core/plan/read-earlier-jobs.ts";
import type { JobFolder, JobStore } from "../../core/ports/job-store.ts";
import { writeJobFiles } from "../write-job-files.ts";

/**
 * Writes a synced job's own files (summary.json and its like) of what its folder holds, as a run here does:
 * a run of the account knows its own attempts alone, and the job may have those of earlier ones. Resolves to
 * the number of kept attempts that are not here: then nothing is written, because it would be wrong.
 */
export async function writeSyncedFiles(
  { plan, repeat }: Pick<CloudRun, "plan" | "repeat">,
  folder: JobFolder,
  store: JobStore,
): Promise<number> {
  const job = plan.jobs.find((each) => each.repeat === repeat);
  if (job === undefined) throw new Error(`the plan has no repeat ${repeat}`);
  const ended = new Set<string | null>();
  for await (const stored of folder.attempts())
    if (readEarlierAttempt(stored).kind !== "unfinished") ended.add(stored.rolloutName);
  const kept = job.trials.filter(({ action }) => action === "keep" || action === "verify-only");
  const lacking = kept.filter(({ rolloutName }) => !ended.has(rolloutName)).length;
  if (lacking > 0) return lacking;
  await writeJobFiles(plan, job, { folder, store, spend: null, notStarted: new Set() });
  return 0;
}
