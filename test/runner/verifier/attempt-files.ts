import type { AttemptFolder } from "../../../core/ports/attempt-folder.ts";
import { MemoryJobStore } from "../../fakes/memory-store.ts";

/** An attempt's folder and what was written into it. */
export interface AttemptFiles {
  readonly folder: AttemptFolder;
  paths(): string[];
  bytes(path: string): Buffer;
  text(path: string): string;
}

/** A folder of an attempt in memory, which holds the same contract as one on disk. */
export async function attemptFiles(): Promise<AttemptFiles> {
  const store = new MemoryJobStore();
  const job = await store.openJob({
    jobsDir: "jobs",
    jobName: "job",
    mode: "new-automatic",
    evaluation: "{}\n",
  });
  const folder = await job.openAttempt("task__00000001");
  const files = (): Map<string, Uint8Array> =>
    store.disk.jobs.get("jobs/job")?.attempts.get("task__00000001") ?? new Map();
  const bytes = (path: string): Buffer => {
    const found = files().get(path);
    if (found === undefined) throw new Error(`no ${path} among ${[...files().keys()].join(", ")}`);
    return Buffer.from(found);
  };
  return {
    folder,
    paths: () => [...files().keys()].toSorted(),
    bytes,
    text: (path) => bytes(path).toString("utf8"),
  };
}
