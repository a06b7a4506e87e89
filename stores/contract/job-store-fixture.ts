import { BenchError } from "../../core/errors.ts";
import type { JobFolder, JobStore, OpenJobRequest } from "../../core/ports/job-store.ts";

/** An empty store, and the same store as another process sees it. */
export interface JobStoreFixture {
  readonly store: JobStore;
  readonly rival: JobStore;
  /** The store's root. */
  readonly jobsDir: string;
}

export interface JobStoreCase {
  readonly promise: string;
  readonly check: (fixture: JobStoreFixture) => Promise<void>;
}

export const NAME = "2026-11-04__18-24-21";
export const EVALUATION = '{"tasks_dir": "tasks"}\n';

export async function open(
  { store, jobsDir }: Pick<JobStoreFixture, "store" | "jobsDir">,
  over: Partial<OpenJobRequest>,
): Promise<JobFolder> {
  const request = {
    jobsDir,
    jobName: NAME,
    mode: "new-automatic",
    evaluation: EVALUATION,
  } as const;
  return await store.openJob({ ...request, ...over });
}

/** A job in which one attempt was started, closed again. */
export async function started(
  fixture: JobStoreFixture,
  over: Partial<OpenJobRequest>,
): Promise<void> {
  const job = await open(fixture, over);
  await job.openAttempt("alpha__00000001");
  await job.close();
}

export async function* chunks(texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text);
}

/** `Array.fromAsync` needs Node 22. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

export function isBenchError(kind: BenchError["kind"]): (error: unknown) => boolean {
  return (error) => error instanceof BenchError && error.kind === kind && error.next !== "";
}
