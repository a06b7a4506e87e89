import { execFileSync } from "node:child_process";
import { mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { collect } from "../../../stores/contract/job-store-fixture.ts";
import { FileJobStore } from "../../../stores/files/file-job-store.ts";
import { startedBy } from "../../core/plan/plan-builders.ts";
import { planFrom } from "./plan-from.ts";
import { EVALUATION, JOB_NAME, resultText } from "./result-text.ts";
import { openNew, sealedAttempt, temporaryFolder, treeOf } from "./store-builders.ts";

const RESUME = { jobName: JOB_NAME, mode: "resume", evaluation: EVALUATION } as const;

describe("a link in the jobs tree (C-55)", () => {
  test("is never followed to write: not for a file, not for a folder on the way", async () => {
    const dir = temporaryFolder();
    const jobsDir = join(dir, "jobs");
    await mkdir(join(dir, "outside"));
    await writeFile(join(dir, "outside/precious"), "precious");
    const job = await openNew(new FileJobStore(jobsDir), jobsDir);
    const attempt = await job.openAttempt("alpha__00000001");
    const attemptDir = join(jobsDir, JOB_NAME, "alpha__00000001");
    await symlink("../../../../outside/precious", join(attemptDir, "verifier/reward.txt"));
    await symlink(join(dir, "outside"), join(attemptDir, "evidence"));
    await symlink(join(dir, "outside/precious"), join(attemptDir, "trajectory/live.jsonl"));
    await symlink(join(dir, "outside/precious"), join(jobsDir, JOB_NAME, "summary.json"));
    await attempt.write("verifier/reward.txt", "1\n");
    await job.write("summary.json", "{}");
    const refused = { kind: "unavailable" };
    await expect(attempt.write("evidence/precious", "x")).rejects.toMatchObject(refused);
    await expect(attempt.mkdir("evidence/new")).rejects.toMatchObject(refused);
    await expect(attempt.append("trajectory/live.jsonl")).rejects.toMatchObject(refused);
    await attempt.seal(resultText("alpha"));
    expect(await readFile(join(dir, "outside/precious"), "utf8")).toBe("precious");
    expect(await treeOf(join(dir, "outside"))).toEqual(["precious"]);
    expect(await readFile(join(attemptDir, "verifier/reward.txt"), "utf8")).toBe("1\n");
    await job.close();
  });

  test("is never followed to read: its attempt is set aside and its bytes go nowhere", async () => {
    const dir = temporaryFolder();
    const jobsDir = join(dir, "jobs");
    const store = new FileJobStore(jobsDir);
    const job = await openNew(store, jobsDir);
    const attempt = await job.openAttempt("alpha__00000001");
    await writeFile(join(dir, "forged.json"), resultText("alpha"));
    const attemptDir = join(jobsDir, JOB_NAME, "alpha__00000001");
    await symlink(join(dir, "forged.json"), join(attemptDir, "result.json"));
    await symlink(dir, join(attemptDir, "evidence"));
    const read = collect(attempt.readFrom("alpha__00000001", "result.json"));
    await expect(read).rejects.toMatchObject({ kind: "unavailable" });
    const through = collect(attempt.readFrom("alpha__00000001", "evidence/forged.json"));
    await expect(through).rejects.toMatchObject({ kind: "unavailable" });
    await job.close();
    const plan = await planFrom(store, jobsDir, ["alpha"]);
    expect(startedBy(plan)).toEqual(["1/alpha"]);
    expect(plan.warnings).toEqual(["alpha__00000001 is set aside: result.json is a link"]);
  });

  test("is no attempt and no job, and a loop of them ends no listing", async () => {
    const dir = temporaryFolder();
    const jobsDir = join(dir, "jobs");
    const store = new FileJobStore(jobsDir);
    const job = await openNew(store, jobsDir);
    await sealedAttempt(job, "alpha");
    await job.close();
    await rename(join(jobsDir, JOB_NAME), join(dir, "elsewhere"));
    await symlink(join(dir, "elsewhere"), join(jobsDir, JOB_NAME));
    await symlink(jobsDir, join(jobsDir, "loop"));
    await symlink("self", join(jobsDir, "self"));
    expect(await store.jobNames(jobsDir)).toEqual([]);
    expect(await collect(store.listJobs(jobsDir))).toEqual([]);
    await expect(store.openJob({ jobsDir, ...RESUME })).rejects.toMatchObject({
      message: expect.stringContaining("not a folder"),
    });
    await expect(store.readJob({ jobsDir, jobName: JOB_NAME })).rejects.toThrow("not a folder");
  });

  test("in the place of a repeat's folder leads nowhere, and the user's own link to the root does", async () => {
    const dir = temporaryFolder();
    await mkdir(join(dir, "outside"));
    await mkdir(join(dir, "real"));
    await symlink(join(dir, "real"), join(dir, "jobs"));
    const jobsDir = join(dir, "jobs");
    const store = new FileJobStore(jobsDir);
    const job = await openNew(store, jobsDir);
    await sealedAttempt(job, "alpha");
    await job.close();
    await symlink(join(dir, "outside"), join(jobsDir, "oracle"));
    await expect(openNew(store, `${jobsDir}/oracle/trial-01`)).rejects.toThrow("not a folder");
    await expect(store.write(`${jobsDir}/oracle`, "x.json", "")).rejects.toThrow("not a folder");
    expect(await treeOf(join(dir, "outside"))).toEqual([]);
    expect(await store.jobNames(jobsDir)).toEqual([JOB_NAME]);
  });

  test("is named in the seal and not hashed, and one put there later is found by the check", async () => {
    const jobsDir = join(temporaryFolder(), "jobs");
    const store = new FileJobStore(jobsDir);
    const job = await openNew(store, jobsDir);
    const attempt = await job.openAttempt("alpha__00000001");
    const attemptDir = join(jobsDir, JOB_NAME, "alpha__00000001");
    await attempt.write("artifacts/a.txt", "a");
    await symlink("/etc/passwd", join(attemptDir, "artifacts/passwd"));
    await attempt.seal(resultText("alpha"));
    const seal = JSON.parse(await readFile(join(attemptDir, "seal.json"), "utf8"));
    expect(seal.other).toEqual([{ path: "artifacts/passwd", type: "link" }]);
    expect(seal.files.map(({ path }: { path: string }) => path)).toEqual([
      "artifacts/a.txt",
      "result.json",
    ]);
    expect((await store.checkSeal(job, "alpha__00000001")).state).toBe("intact");
    await rm(join(attemptDir, "artifacts/a.txt"));
    await symlink("/etc/passwd", join(attemptDir, "artifacts/a.txt"));
    expect(await store.checkSeal(job, "alpha__00000001")).toMatchObject({
      state: "broken",
      problems: ["artifacts/a.txt is not a plain file any more"],
    });
    await job.close();
  });
});

test("a pipe in the place of any file holds no reader", async () => {
  const jobsDir = join(temporaryFolder(), "jobs");
  const store = new FileJobStore(jobsDir);
  const job = await openNew(store, jobsDir);
  await job.openAttempt("alpha__00000001");
  await job.close();
  const jobDir = join(jobsDir, JOB_NAME);
  await rm(join(jobDir, "evaluation.json"));
  for (const path of ["evaluation.json", "alpha__00000001/result.json", ".evaluation.lock"]) {
    execFileSync("mkfifo", [join(jobDir, path)]);
  }
  const plan = await planFrom(store, jobsDir, ["alpha"]);
  expect(plan.warnings.join("\n")).toContain("is not a plain file");
  await expect(store.openJob({ jobsDir, ...RESUME })).rejects.toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("evaluation.json is not a plain file"),
  });
});
