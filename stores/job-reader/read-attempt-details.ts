import { readdirSync } from "node:fs";
import type { Dirent } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import type { TrialRecord } from "../../core/model/record.ts";
import type { AttemptFiles, InterruptedAttempt } from "../../core/results/loaded-job.ts";
import { firstFailedTest } from "../../core/results/first-failed-test.ts";
import { isMissing, storeError } from "../files/store-error.ts";
import { readTextFile, readJsonFile } from "./read-text-file.ts";

const MAX_DETAIL_BYTES = 4 * 1024 * 1024;

/** Which of the contract's files an attempt has. Folders that are links are not looked into. */
export function readAttemptFiles(attemptDir: string): AttemptFiles {
  const folders = namesOf(attemptDir, (entry) => entry.isDirectory());
  const filesIn = (folder: string): ReadonlySet<string> =>
    folders.has(folder)
      ? namesOf(join(attemptDir, folder), (entry) => entry.isFile())
      : new Set<string>();
  const verifier = filesIn("verifier");
  const find = (name: string): string | null => (verifier.has(name) ? `verifier/${name}` : null);
  const events = "acp_trajectory.jsonl";
  return {
    ctrf: find("ctrf.json"),
    rewardDetails: find("reward-details.json"),
    rewardJson: find("reward.json"),
    rewardText: find("reward.txt"),
    stdout: find("test-stdout.txt"),
    stderr: find("test-stderr.txt"),
    trajectory: filesIn("trajectory").has(events) ? `trajectory/${events}` : null,
  };
}

function namesOf(dir: string, wanted: (entry: Dirent) => boolean): ReadonlySet<string> {
  try {
    const entries = readdirSync(dir, { withFileTypes: true });
    return new Set(entries.filter(wanted).map((entry) => entry.name));
  } catch (error) {
    if (isMissing(error)) return new Set();
    throw storeError(error, "list", dir);
  }
}

/**
 * The record with the first failing test of the report beside it: BenchFlow's results do not carry
 * it, ours do.
 */
export function withFailedTest(
  record: TrialRecord,
  attemptDir: string,
  files: AttemptFiles,
): TrialRecord {
  const passed = record.outcome.kind === "scored" && record.outcome.passed;
  if (passed || record.attempt !== null || files.ctrf === null) return record;
  const found = readTextFile(join(attemptDir, files.ctrf), MAX_DETAIL_BYTES);
  return found.kind === "text"
    ? { ...record, firstFailedTest: firstFailedTest(found.text) }
    : record;
}

const Started = z.object({
  agent: z.string().nullish().catch(null),
  model: z.string().nullish().catch(null),
  started_at: z.string().nullish().catch(null),
  started_at_utc: z.string().nullish().catch(null),
});
const SandboxFile = z.object({ sandbox_id: z.string().nullish().catch(null) });

/** What an attempt without a result left about itself (spec 12.5). */
export function readInterrupted(
  jobDir: string,
  attempt: Pick<InterruptedAttempt, "rolloutName" | "taskName">,
): InterruptedAttempt {
  const dir = join(jobDir, attempt.rolloutName);
  const config = readJsonFile(join(dir, "config.json"), MAX_DETAIL_BYTES);
  const sandbox = readJsonFile(join(dir, "sandbox.json"), MAX_DETAIL_BYTES);
  const started = Started.safeParse(config).data;
  return {
    rolloutName: attempt.rolloutName,
    taskName: attempt.taskName,
    agent: started?.agent ?? null,
    model: started?.model ?? null,
    startedAt: started?.started_at_utc ?? started?.started_at ?? null,
    sandboxId: SandboxFile.safeParse(sandbox).data?.sandbox_id ?? null,
  };
}
