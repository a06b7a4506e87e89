import { mkdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FileJobStore } from "../../../stores/files/file-job-store.ts";
import { temporaryName } from "../../../stores/files/temporary-name.ts";
import { someSettings, startedBy, unscored } from "../../core/plan/plan-builders.ts";
import { planFrom } from "./plan-from.ts";
import { EVALUATION, JOB_NAME, resultText } from "./result-text.ts";
import { openNew, sealedAttempt, snapshotOf, temporaryFolder, treeOf } from "./store-builders.ts";

async function resumeAll(store: FileJobStore, jobsDir: string): Promise<void> {
  const request = { jobsDir, jobName: JOB_NAME, mode: "resume", evaluation: EVALUATION } as const;
  await (await store.openJob(request)).close();
}

describe("the same command again", () => {
  test("keeps what is sealed and starts only what is not", async () => {
    const jobsDir = join(temporaryFolder(), "jobs");
    const store = new FileJobStore(jobsDir);
    const job = await openNew(store, jobsDir);
    await sealedAttempt(job, "alpha");
    await sealedAttempt(job, "beta", { outcome: unscored() });
    await job.close();
    const plan = await planFrom(store, jobsDir, ["alpha", "beta", "gamma"]);
    expect(plan.jobs[0]).toMatchObject({ jobName: JOB_NAME, resumed: true });
    expect(startedBy(plan)).toEqual(["1/beta", "1/gamma"]);
  });

  test("with nothing to do rewrites no byte and no time", async () => {
    const jobsDir = join(temporaryFolder(), "jobs");
    const store = new FileJobStore(jobsDir);
    const job = await openNew(store, jobsDir);
    await sealedAttempt(job, "alpha");
    await job.close();
    const before = await snapshotOf(jobsDir);
    await resumeAll(store, jobsDir);
    expect(await snapshotOf(jobsDir)).toEqual(before);
  });

  test("starts a started attempt again that never ended (C-4)", async () => {
    const jobsDir = join(temporaryFolder(), "jobs");
    const store = new FileJobStore(jobsDir);
    const job = await openNew(store, jobsDir);
    await (await job.openAttempt("alpha__00000001")).write("sandbox.json", "{}");
    await job.close();
    const plan = await planFrom(store, jobsDir, ["alpha"]);
    expect(plan.jobs[0]?.trials[0]).toMatchObject({
      action: "run",
      attempt: 2,
      why: "alpha__00000001 was started and did not end",
    });
  });

  test("does not look at file times: shuffled ones change nothing (C-7)", async () => {
    const jobsDir = join(temporaryFolder(), "jobs");
    const store = new FileJobStore(jobsDir);
    const job = await openNew(store, jobsDir);
    await sealedAttempt(job, "alpha", { attempt: 1, outcome: unscored() });
    await sealedAttempt(job, "alpha", { attempt: 2 });
    await sealedAttempt(job, "alpha", { attempt: 3, outcome: unscored() });
    await job.close();
    const plan = await planFrom(store, jobsDir, ["alpha"]);
    const paths = await treeOf(jobsDir);
    for (const times of [paths.map(() => 0), paths.map((_, index) => index * 7919)]) {
      for (const [index, path] of paths.entries()) {
        await utimes(join(jobsDir, path), times[index] ?? 0, times[index] ?? 0);
      }
      expect(await planFrom(store, jobsDir, ["alpha"])).toEqual(plan);
    }
    expect(plan.jobs[0]?.trials[0]).toMatchObject({
      action: "keep",
      rolloutName: "alpha__00000002",
    });
  });

  test("runs a trial again whose verifier failed, or verifies it where the work is saved (C-8)", async () => {
    const jobsDir = join(temporaryFolder(), "jobs");
    const store = new FileJobStore(jobsDir);
    const job = await openNew(store, jobsDir);
    const outcome = unscored({ fault: "task", category: "verifier_failure", verifyOnly: true });
    await sealedAttempt(job, "alpha", { outcome });
    await sealedAttempt(job, "beta", { outcome, workspaceSaved: true });
    await job.close();
    const actions = async (): Promise<unknown> =>
      (await planFrom(store, jobsDir, ["alpha", "beta"])).jobs[0]?.trials.map(
        ({ action }) => action,
      );
    expect(await actions()).toEqual(["run", "verify-only"]);
    await rm(join(jobsDir, JOB_NAME, "beta__00000001", "evidence"), { recursive: true });
    expect(await actions()).toEqual(["run", "run"]);
  });

  test("resumes from the trials alone when every file of the job is deleted (C-12)", async () => {
    const jobsDir = join(temporaryFolder(), "jobs");
    const store = new FileJobStore(jobsDir);
    const job = await openNew(store, jobsDir);
    await sealedAttempt(job, "alpha");
    await sealedAttempt(job, "beta", { outcome: unscored() });
    await job.write("summary.json", "{}");
    await job.close();
    for (const name of ["evaluation.json", "summary.json"]) await rm(join(jobsDir, JOB_NAME, name));
    const plan = await planFrom(store, jobsDir, ["alpha", "beta"]);
    expect(plan.jobs[0]).toMatchObject({ jobName: JOB_NAME, resumed: true });
    expect(startedBy(plan)).toEqual(["1/beta"]);
    await resumeAll(store, jobsDir);
    expect(await readFile(join(jobsDir, JOB_NAME, "evaluation.json"), "utf8")).toBe(EVALUATION);
  });

  test("keeps a score whose seal the kill prevented, and seals it then", async () => {
    const jobsDir = join(temporaryFolder(), "jobs");
    const store = new FileJobStore(jobsDir);
    const job = await openNew(store, jobsDir);
    const name = await sealedAttempt(job, "alpha");
    await job.close();
    await rm(join(jobsDir, JOB_NAME, name, "seal.json"));
    expect(startedBy(await planFrom(store, jobsDir, ["alpha"]))).toEqual([]);
    await resumeAll(store, jobsDir);
    const seal = JSON.parse(await readFile(join(jobsDir, JOB_NAME, name, "seal.json"), "utf8"));
    expect(seal.recovered).toBe(true);
    expect((await store.checkSeal({ jobsDir, jobName: JOB_NAME }, name)).state).toBe("intact");
  });

  test("removes what a killed writer left half-written, and nothing of an agent's", async () => {
    const jobsDir = join(temporaryFolder(), "jobs");
    const store = new FileJobStore(jobsDir);
    const job = await openNew(store, jobsDir);
    const attempt = await job.openAttempt("alpha__00000001");
    await attempt.write("artifacts/.tmp-1-2-89abcdef", "an agent's");
    await attempt.write("artifacts/x.tmp", "an agent's");
    await job.close();
    const jobDir = join(jobsDir, JOB_NAME);
    const tree = await treeOf(jobDir);
    const half = [".tmp-1-2-445566aa", "alpha__00000001/verifier/.tmp-1-2-445566bb"];
    for (const path of half) await writeFile(join(jobDir, path), "ha");
    await mkdir(join(jobDir, ".tmp-1-2-445566cc/deep"), { recursive: true });
    await resumeAll(store, jobsDir);
    expect(await treeOf(jobDir)).toEqual(tree);
    expect(tree).toContain("alpha__00000001/artifacts/%2Etmp-1-2-89abcdef");
  });
});

describe("a jobs folder", () => {
  test("that cannot be written is refused before anything is made", async () => {
    const dir = temporaryFolder();
    await writeFile(join(dir, "file"), "");
    for (const jobsDir of [
      join(dir, "file"),
      join(dir, "file/jobs"),
      "/proc/jobs",
      "/dev/null/x",
    ]) {
      const store = new FileJobStore(jobsDir);
      await expect(openNew(store, jobsDir)).rejects.toMatchObject({
        kind: "usage",
        next: expect.stringContaining("--jobs-dir"),
      });
      if (jobsDir === "/proc/jobs") continue;
      await expect(store.checkWritable(jobsDir)).rejects.toMatchObject({ kind: "usage" });
    }
    expect(await treeOf(dir)).toEqual(["file"]);
  });

  test("that does not exist yet is made, with every folder above it", async () => {
    const jobsDir = join(temporaryFolder(), "a/b/jobs");
    const store = new FileJobStore(jobsDir);
    await expect(store.checkWritable(jobsDir)).resolves.toBeUndefined();
    const job = await openNew(store, `${jobsDir}/oracle/trial-01`);
    await sealedAttempt(job, "alpha");
    await job.close();
    expect(await store.jobNames(`${jobsDir}/oracle/trial-01`)).toEqual([JOB_NAME]);
  });

  test("is left as it was by a run that started no trial", async () => {
    const dir = temporaryFolder();
    const jobsDir = join(dir, "a/jobs");
    const job = await openNew(new FileJobStore(jobsDir), `${jobsDir}/oracle/trial-01`);
    await job.close();
    expect(await treeOf(dir)).toEqual([]);
  });

  test("is tidied of what dead writers left in it, and of nothing that is being written", async () => {
    const root = join(temporaryFolder(), "jobs");
    const jobsDir = `${root}/oracle/trial-01`;
    const alive = temporaryName();
    await mkdir(join(jobsDir, ".tmp-1-9-89abcdef", ".evaluation.lease"), { recursive: true });
    await writeFile(join(root, ".tmp-1-9-01234567"), "half a summary");
    await writeFile(join(root, alive), "half of a live one");
    const store = new FileJobStore(root);
    expect(await store.jobNames(jobsDir)).toEqual([]);
    await (await openNew(store, jobsDir)).close();
    expect(await treeOf(root)).toEqual([alive, "oracle/", "oracle/trial-01/"]);
  });

  test("outside of the store's root is refused", async () => {
    const dir = temporaryFolder();
    const store = new FileJobStore(join(dir, "jobs"));
    await expect(store.jobNames(join(dir, "other"))).rejects.toMatchObject({ kind: "bug" });
    await expect(openNew(store, join(dir, "jobs/../other"))).rejects.toMatchObject({ kind: "bug" });
    expect(await treeOf(dir)).toEqual([]);
  });
});

test("a job of BenchFlow's own, with hundreds of its kind beside it, is never resumed into", async () => {
  const jobsDir = join(temporaryFolder(), "jobs");
  const attemptDir = join(jobsDir, JOB_NAME, "alpha__0a1b2c3d");
  await mkdir(attemptDir, { recursive: true });
  await writeFile(
    join(attemptDir, "result.json"),
    '{"task_name": "alpha", "rewards": {"reward": 1.0}}',
  );
  const store = new FileJobStore(jobsDir);
  const plan = await planFrom(store, jobsDir, ["alpha"]);
  expect(plan.jobs[0]?.resumed).toBe(false);
  expect(plan.warnings[0]).toContain("does not say with which settings it was run");
});

test("--job-name finds its job among the others, and no folder of other files", async () => {
  const jobsDir = join(temporaryFolder(), "jobs");
  const store = new FileJobStore(jobsDir);
  const request = { jobsDir, jobName: "nightly", mode: "new", evaluation: EVALUATION } as const;
  const job = await store.openJob(request);
  await sealedAttempt(job, "alpha");
  await job.close();
  const settings = someSettings({ jobsDir, jobName: "nightly" });
  expect(startedBy(await planFrom(store, jobsDir, ["alpha", "beta"], settings))).toEqual([
    "1/beta",
  ]);
  await mkdir(join(jobsDir, "notes"));
  await writeFile(join(jobsDir, "notes", "todo.txt"), "");
  const notes = someSettings({ jobsDir, jobName: "notes" });
  await expect(planFrom(store, jobsDir, ["alpha"], notes)).rejects.toThrow("other files");
  expect(resultText("alpha")).toContain("settings_digest");
});
