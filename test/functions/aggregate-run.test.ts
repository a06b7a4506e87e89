import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { CloudRun } from "../../core/model/cloud-work.ts";
import { RunManifest } from "../../core/model/run-manifest.ts";
import { RunSettings } from "../../core/model/settings.ts";
import { JobSummary } from "../../core/model/summary.ts";
import { aggregateRun } from "../../functions/aggregate/aggregate-run.ts";
import { FileJobStore } from "../../stores/files/file-job-store.ts";
import { bodyOfBytes } from "../../stores/objects/object-body.ts";
import { RunLayout } from "../../stores/objects/run-layout.ts";
import { uploadAttempt } from "../../stores/objects/upload-attempt.ts";
import { MemoryObjects } from "../fakes/memory-objects.ts";
import { openNew, sealedAttempt, temporaryFolder } from "../stores/files/store-builders.ts";

const layout = new RunLayout("nightly");
const ROLLOUTS = ["alpha__00000001", "beta__00000001", "gamma__00000001"];
let objects = new MemoryObjects();

/** A run of three trials; two have ended. */
beforeEach(async () => {
  objects = new MemoryObjects();
  const jobs = temporaryFolder();
  const job = await openNew(new FileJobStore(jobs), jobs);
  for (const task of ["alpha", "beta"]) {
    const name = await sealedAttempt(job, task);
    await uploadAttempt(objects, join(job.dir, name), layout.attempt(name));
  }
  await job.close();
  const trials = ["alpha", "beta", "gamma"].map((taskName) => ({
    taskName,
    taskDigest: "sha256:0",
    contextDigest: null,
    action: "run",
    why: "",
    attempt: 1,
    rolloutName: null,
    verifierFailures: 0,
  }));
  const plan = {
    settings: RunSettings.parse({ tasksDir: "tasks", agent: "oracle", environment: "fargate" }),
    settingsDigest: "0".repeat(64),
    scoreSettings: {},
    tasks: [],
    skipped: [],
    jobs: [{ repeat: 1, jobsDir: "jobs", jobName: "nightly", resumed: false, trials }],
    forecast: { planned: 3, kept: 0, verifyOnly: 0, toRun: 3, blocked: 0 },
    warnings: [],
  };
  const run = {
    schema_version: 1,
    run: "nightly",
    owner: "me",
    created_at_utc: "2026-11-30T00:00:00.000Z",
    job_name: "nightly",
    plan,
    repeat: 1,
    rollouts: ROLLOUTS,
  };
  await objects.create(layout.plan, bodyOfBytes(JSON.stringify(run)));
});

const textOf = (key: string): string => objects.objects.get(key)?.bytes.toString() ?? "";

describe("an aggregate", () => {
  test("counts the sealed attempts of the plan, and says what is missing", async () => {
    expect(await aggregateRun(objects, layout)).toEqual({ attempts: 2 });
    const manifest = RunManifest.parse(JSON.parse(textOf(layout.manifest)));
    // The third one's runner may still send it.
    expect(manifest.complete).toBe(false);
    expect(manifest.attempts.map((each) => each.rollout_name)).toEqual(ROLLOUTS.slice(0, 2));
    const summary = JobSummary.parse(JSON.parse(textOf(layout.jobFile("summary.json"))));
    expect(summary).toMatchObject({ job_name: "nightly", environment: "fargate" });
  });

  test("is complete with the last seal, and leaves the summary to whoever has the whole job", async () => {
    const jobs = temporaryFolder();
    const job = await openNew(new FileJobStore(jobs), jobs);
    const name = await sealedAttempt(job, "gamma");
    await uploadAttempt(objects, join(job.dir, name), layout.attempt(name));
    await job.close();
    await aggregateRun(objects, layout);
    const manifest = RunManifest.parse(JSON.parse(textOf(layout.manifest)));
    expect(manifest.complete).toBe(true);
    expect(manifest.files.map(({ path }) => path)).not.toContain("summary.json");
  });

  test.each([
    { action: "keep", rolloutName: "gamma__0000000f" },
    { action: "run", attempt: 2 },
  ])("of a job with earlier attempts (%o) writes no summary of its own alone", async (trial) => {
    const run = CloudRun.parse(JSON.parse(textOf(layout.plan)));
    Object.assign(run.plan.jobs[0]?.trials[2] ?? {}, trial);
    objects.objects.set(layout.plan, { bytes: Buffer.from(JSON.stringify(run)), version: '"x"' });
    expect(await aggregateRun(objects, layout)).toEqual({ attempts: 2 });
    expect(objects.objects.has(layout.jobFile("summary.json"))).toBe(false);
    expect(objects.objects.has(layout.manifest)).toBe(true);
  });

  test("gives the same bytes however often it is made", async () => {
    await aggregateRun(objects, layout);
    const before = [textOf(layout.manifest), textOf(layout.jobFile("summary.json"))];
    await aggregateRun(objects, layout);
    expect([textOf(layout.manifest), textOf(layout.jobFile("summary.json"))]).toEqual(before);
  });

  test("quarantines a result that is not what its seal says", async () => {
    const key = layout.attempt("alpha__00000001").object("result");
    objects.objects.set(key, {
      bytes: Buffer.from(textOf(key).replace("alpha", "alphx")),
      version: '"x"',
    });
    await aggregateRun(objects, layout);
    const summary = JobSummary.parse(JSON.parse(textOf(layout.jobFile("summary.json"))));
    expect(summary.quarantined).toHaveLength(1);
  });

  test("asks for each attempt by its name and lists nothing", async () => {
    objects.calls.length = 0;
    await aggregateRun(objects, layout);
    expect(objects.calls.filter((call) => call.startsWith("list"))).toEqual([]);
    // Plan, two objects of each ended attempt, one of the missing one, evaluation.json, what is replaced.
    expect(objects.calls.length).toBeLessThanOrEqual(1 + 2 * 2 + 1 + 1 + 4);
  });

  test("of a run that is not there is told so", async () => {
    await expect(aggregateRun(objects, new RunLayout("other"))).rejects.toThrow(
      "there is no run other",
    );
  });
});
