import { join } from "node:path";
import { expect, test } from "vitest";
import { writeSyncedFiles } from "../../../api/cloud/write-synced-files.ts";
import { RunPlan } from "../../../core/model/plan.ts";
import { RunSettings } from "../../../core/model/settings.ts";
import { aggregateRun } from "../../../functions/aggregate/aggregate-run.ts";
import { FileJobStore } from "../../../stores/files/file-job-store.ts";
import { bodyOfBytes } from "../../../stores/objects/object-body.ts";
import { RunLayout } from "../../../stores/objects/run-layout.ts";
import { syncJob } from "../../../stores/objects/sync-job.ts";
import { uploadAttempt } from "../../../stores/objects/upload-attempt.ts";
import { digestOf, digestOfSettings, someSettings } from "../../core/plan/plan-builders.ts";
import { MemoryObjects } from "../../fakes/memory-objects.ts";
import { openNew, sealedAttempt, temporaryFolder } from "../../stores/files/store-builders.ts";

const layout = new RunLayout("nightly-00000002");
const KEPT = ["alpha", "beta"];

/** The second run of a job of three trials: two are kept from an earlier run, the third has ended. */
async function secondRun() {
  const objects = new MemoryObjects();
  const jobs = temporaryFolder();
  const job = await openNew(new FileJobStore(jobs), jobs);
  const name = await sealedAttempt(job, "gamma");
  await uploadAttempt(objects, join(job.dir, name), layout.attempt(name));
  await job.close();
  const trials = [...KEPT, "gamma"].map((taskName) => ({
    taskName,
    taskDigest: digestOf(taskName),
    contextDigest: null,
    action: KEPT.includes(taskName) ? "keep" : "run",
    why: "",
    attempt: 1,
    rolloutName: KEPT.includes(taskName) ? `${taskName}__00000001` : null,
    verifierFailures: 0,
  }));
  const plan = RunPlan.parse({
    settings: RunSettings.parse({ tasksDir: "tasks", agent: "oracle", environment: "fargate" }),
    settingsDigest: digestOfSettings(someSettings()),
    scoreSettings: {},
    tasks: [],
    skipped: [],
    jobs: [{ repeat: 1, jobsDir: "jobs", jobName: "nightly", resumed: true, trials }],
    forecast: { planned: 3, kept: 2, verifyOnly: 0, toRun: 1, blocked: 0 },
    warnings: [],
  });
  const run = {
    schema_version: 1,
    run: layout.run,
    owner: "me",
    created_at_utc: "2026-11-30T00:00:00.000Z",
    job_name: "nightly",
    plan,
    repeat: 1,
    rollouts: [name],
  };
  await objects.create(layout.plan, bodyOfBytes(JSON.stringify(run)));
  await aggregateRun(objects, layout);
  return { objects, plan };
}

async function summaryAfterSync(earlier: readonly string[]) {
  const { objects, plan } = await secondRun();
  const jobs = temporaryFolder();
  const store = new FileJobStore(jobs);
  const folder = await openNew(store, jobs);
  for (const task of earlier) await sealedAttempt(folder, task);
  expect(await syncJob(objects, layout, folder.dir)).toMatchObject({ attempts: 1, complete: true });
  const lacking = await writeSyncedFiles({ plan, repeat: 1 }, folder, store);
  const text = await folder.read("summary.json");
  const lines = await folder.read("results.jsonl");
  await folder.close();
  const summary: unknown = text === null ? null : JSON.parse(new TextDecoder().decode(text));
  return { lacking, summary, hasLines: lines !== null };
}

test("the summary of a resumed job counts what was kept too, after a sync of its second run", async () => {
  const { lacking, summary, hasLines } = await summaryAfterSync(KEPT);
  expect(lacking).toBe(0);
  expect(summary).toMatchObject({ total: 3, passed: 3 });
  expect(hasLines).toBe(true);
});

test("where what was kept is not here there is no summary, and its lack is told", async () => {
  const { lacking, summary } = await summaryAfterSync(["alpha"]);
  expect(lacking).toBe(1);
  expect(summary).toBeNull();
});
