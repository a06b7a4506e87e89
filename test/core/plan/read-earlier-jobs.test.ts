import { describe, expect, test } from "vitest";
import { readEarlierJobs, readEvaluation } from "../../../core/plan/read-earlier-jobs.ts";
import type { EarlierJob } from "../../../core/plan/earlier-job.ts";
import type { RunSettingsInput } from "../../../core/model/settings.ts";
import type { JobRef, StoredJob } from "../../../core/ports/job-store.ts";
import { MemoryJobStore } from "../../fakes/memory-store.ts";
import { resultText } from "../../stores/files/result-text.ts";
import { digestOfSettings, someSettings } from "./plan-builders.ts";

/** A store that tells which jobs' attempts were read. */
class WatchedStore extends MemoryJobStore {
  readonly read: string[] = [];

  override async readJob(ref: JobRef): Promise<StoredJob> {
    const stored = await super.readJob(ref);
    return {
      ...stored,
      attempts: () => {
        this.read.push(ref.jobName);
        return stored.attempts();
      },
    };
  }
}

interface PutJob {
  readonly jobsDir?: string;
  readonly settings?: Partial<RunSettingsInput>;
  /** False: evaluation.json is lost. */
  readonly evaluation?: boolean;
  readonly result?: string | null;
}

async function putJob(store: MemoryJobStore, jobName: string, over: PutJob = {}): Promise<void> {
  const { jobsDir = "jobs", settings = {}, evaluation = true } = over;
  const { tasksDir, ...rest } = someSettings(settings);
  const text = JSON.stringify({
    tasks_dir: tasksDir,
    settings_digest: digestOfSettings({ tasksDir, ...rest }),
  });
  const job = await store.openJob({ jobsDir, jobName, mode: "new", evaluation: text });
  const attempt = await job.openAttempt("alpha__00000001");
  if (over.result !== null) await attempt.seal(over.result ?? resultText("alpha"));
  await job.close();
  if (!evaluation) {
    store.disk.jobs.get(`${jobsDir}/${jobName}`)?.files.delete("evaluation.json");
  }
}

async function readFor(
  store: MemoryJobStore,
  over: Partial<RunSettingsInput> = {},
): Promise<EarlierJob[]> {
  const settings = someSettings(over);
  return await readEarlierJobs(store, { settings, settingsDigest: digestOfSettings(settings) });
}

const summary = (jobs: readonly EarlierJob[]): unknown[] =>
  jobs.map(({ jobsDir, jobName, attempts }) => [jobsDir, jobName, attempts?.length ?? null]);

describe("of the jobs that are there", () => {
  test("only the one to resume is read whole, and none before it is looked at", async () => {
    const store = new WatchedStore();
    await putJob(store, "2026-11-04__00-00-01");
    await putJob(store, "2026-11-04__00-00-02");
    await putJob(store, "2026-11-04__00-00-03", { settings: { agent: "nop" } });
    await putJob(store, "notes");
    expect(summary(await readFor(store))).toEqual([
      ["jobs", "2026-11-04__00-00-03", null],
      ["jobs", "2026-11-04__00-00-02", 1],
    ]);
    expect(store.read).toEqual(["2026-11-04__00-00-02"]);
  });

  test("without one to resume, the newest of the same tasks is read: it may have cost money", async () => {
    const store = new WatchedStore();
    const settings = { agent: "nop" };
    await putJob(store, "2026-11-04__00-00-01", { settings });
    await putJob(store, "2026-11-04__00-00-02", { settings });
    await putJob(store, "2026-11-04__00-00-03", { settings: { tasksDir: "other" } });
    await readFor(store);
    expect(store.read).toEqual(["2026-11-04__00-00-02"]);
  });

  test("one whose evaluation.json is lost is known by its first result that can be read", async () => {
    const store = new WatchedStore();
    await putJob(store, "2026-11-04__00-00-01");
    await putJob(store, "2026-11-04__00-00-02", { evaluation: false });
    const [job, ...more] = await readFor(store);
    expect(more).toEqual([]);
    expect([job?.jobName, job?.evaluation, job?.attempts?.length]).toEqual([
      "2026-11-04__00-00-02",
      null,
      1,
    ]);
  });

  test("none is read with --fresh, and only the named one with --job-name", async () => {
    const store = new WatchedStore();
    await putJob(store, "2026-11-04__00-00-01");
    await putJob(store, "nightly", { settings: { agent: "nop" } });
    expect(await readFor(store, { fresh: true })).toEqual([]);
    expect(summary(await readFor(store, { jobName: "nightly" }))).toEqual([["jobs", "nightly", 1]]);
    expect(await readFor(store, { jobName: "weekly" })).toEqual([]);
  });

  test("each repeat's are found in its own folder", async () => {
    const store = new WatchedStore();
    await putJob(store, "2026-11-04__00-00-01", { jobsDir: "jobs/oracle/trial-01" });
    await putJob(store, "2026-11-04__00-00-02", { jobsDir: "jobs/oracle/trial-02" });
    await putJob(store, "2026-11-04__00-00-03");
    expect(summary(await readFor(store, { trials: 2 }))).toEqual([
      ["jobs/oracle/trial-01", "2026-11-04__00-00-01", 1],
      ["jobs/oracle/trial-02", "2026-11-04__00-00-02", 1],
    ]);
  });
});

test("a workspace that a result records and that is gone is not one to verify again", async () => {
  const store = new MemoryJobStore();
  await putJob(store, "2026-11-04__00-00-01", {
    result: resultText("alpha", { workspaceSaved: true }),
  });
  const [job] = await readFor(store);
  expect(job?.attempts?.[0]).toMatchObject({ kind: "ended", record: { workspaceSaved: false } });
});

test("evaluation.json alone is read without the attempts beside it", async () => {
  const store = new WatchedStore();
  await putJob(store, "nightly");
  const ref = { jobsDir: "jobs", jobName: "nightly" };
  expect(await readEvaluation(store, ref)).toMatchObject({ tasks_dir: "tasks" });
  expect(store.read).toEqual([]);
  await putJob(store, "lost", { evaluation: false });
  expect(await readEvaluation(store, { ...ref, jobName: "lost" })).toBeNull();
});
