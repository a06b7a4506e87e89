import { mkdtempSync } from "node:fs";
import { lstat, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Outcome } from "../../../core/model/outcome.ts";
import type { RunPlan } from "../../../core/model/plan.ts";
import type { RunSettings } from "../../../core/model/settings.ts";
import type { Task } from "../../../core/model/task.ts";
import { planRun } from "../../../core/plan/plan-run.ts";
import { readEarlierJobs } from "../../../core/plan/read-earlier-jobs.ts";
import type { JobFolder, JobStore } from "../../../core/ports/job-store.ts";
import { toResultOutcome } from "../../../core/results/result-outcome.ts";
import {
  aRequest,
  aTask,
  digestOf,
  digestOfSettings,
  scored,
  someSettings,
} from "../../core/plan/plan-builders.ts";

/** A folder that is removed when the test ends. */
export function temporaryFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), "bench-store-"));
  onTestFinished(async () => {
    await rm(dir, { recursive: true });
  });
  return dir;
}

export const JOB_NAME = "2026-11-04__18-24-21";
export const EVALUATION = `${JSON.stringify({
  tasks_dir: "tasks",
  settings_digest: digestOfSettings(someSettings()),
})}\n`;

export interface ResultOver {
  readonly attempt?: number;
  readonly outcome?: Outcome;
  readonly workspaceSaved?: boolean;
}

/** A result.json of ours. */
export function resultText(taskName: string, over: ResultOver = {}): string {
  const { attempt = 1, outcome = scored(1), workspaceSaved = false } = over;
  const result = {
    task_name: taskName,
    rewards: outcome.kind === "scored" ? { reward: outcome.reward } : null,
    agent: "oracle",
    outcome: toResultOutcome(outcome),
    attempt,
    task_digest: digestOf(taskName),
    settings_digest: digestOfSettings(someSettings()),
    workspace_saved: workspaceSaved,
  };
  return `${JSON.stringify(result, null, 2)}\n`;
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

/** The plan of the same command for these tasks, from what the store holds. */
export async function planFrom(
  store: JobStore,
  jobsDir: string,
  taskNames: readonly string[],
  settings: RunSettings = someSettings({ jobsDir }),
): Promise<RunPlan> {
  const tasks: Task[] = taskNames.map((name) => aTask(name));
  const question = { settings, settingsDigest: digestOfSettings(settings) };
  const earlier = await readEarlierJobs(store, question);
  return planRun(aRequest({ settings, tasks, earlier }));
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
