import { mkdtempSync } from "node:fs";
import { lstat, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { JobFolder, JobStore } from "../../../core/ports/job-store.ts";
import { EVALUATION, JOB_NAME, resultText } from "./result-text.ts";
import type { ResultOver } from "./result-text.ts";

/** A folder that is removed when the test ends. */
export function temporaryFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), "bench-store-"));
  onTestFinished(async () => {
    await rm(dir, { recursive: true });
  });
  return dir;
}

export async function openNew(store: JobStore, jobsDir: string): Promise<JobFolder> {
  return await store.openJob({
    jobsDir,
    jobName: JOB_NAME,
    mode: "new-automatic",
    evaluation: EVALUATION,
  });
}

/** A sealed attempt `<task>__0000000<attempt>`. */
export async function sealedAttempt(
  job: JobFolder,
  taskName: string,
  over: ResultOver = {},
): Promise<string> {
  const rolloutName = `${taskName}__${(over.attempt ?? 1).toString(16).padStart(8, "0")}`;
  const attempt = await job.openAttempt(rolloutName);
  await attempt.write("verifier/reward.txt", "1\n");
  if (over.workspaceSaved === true) await attempt.write("evidence/workspace.tar", "work");
  await attempt.seal(resultText(taskName, over));
  return rolloutName;
}

/** Every path below, with the kind of what is there; folders end with a slash. */
export async function treeOf(dir: string, below = ""): Promise<string[]> {
  const entries = await readdir(join(dir, below), { withFileTypes: true });
  const paths: string[] = [];
  for (const entry of entries) {
    const path = join(below, entry.name);
    paths.push(entry.isDirectory() ? `${path}/` : path);
    if (entry.isDirectory()) paths.push(...(await treeOf(dir, path)));
  }
  return paths.toSorted();
}

/** Path -> bytes and modification time, to see that nothing was touched. */
export async function snapshotOf(dir: string): Promise<Record<string, string>> {
  const files = (await treeOf(dir)).filter((path) => !path.endsWith("/"));
  const entries = files.map(async (path): Promise<[string, string]> => {
    const { mtimeNs } = await lstat(join(dir, path), { bigint: true });
    return [path, `${mtimeNs} ${await readFile(join(dir, path), "base64")}`];
  });
  return Object.fromEntries(await Promise.all(entries));
}
