import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { collect } from "../../../stores/contract/job-store-fixture.ts";
import { FileJobStore } from "../../../stores/files/file-job-store.ts";
import { openNew, sealedAttempt, temporaryFolder } from "./store-builders.ts";

async function makeFiles(root: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(join(root, path, ".."), { recursive: true });
    await writeFile(join(root, path), "{}");
  }
}

async function jobsBelow(root: string): Promise<string[]> {
  const jobs = await collect(new FileJobStore(root).listJobs(root));
  return jobs.map(({ jobsDir, jobName }) => join(jobsDir, jobName).slice(root.length + 1));
}

describe("a jobs tree", () => {
  test("shows the jobs of BenchFlow and ours, plain and of repeats, and nothing else", async () => {
    const root = join(temporaryFolder(), "jobs");
    await makeFiles(root, [
      "summary.json",
      "2026-11-30__04-39-55/summary.json",
      "2026-11-30__04-39-56/alpha-note__0a1b2c3d/config.json",
      "nightly/evaluation.json",
      "oracle/trial-02/2026-11-30__04-42-41/evaluation.json",
      "oracle/trial-01/2026-11-30__04-42-40/alpha__0a1b2c3d/result.json",
      "running/.evaluation.lock",
      "2026-11-30__04-39-57/notes.txt",
      "worker-shards/shard-1/summary.json",
      "notes/todo.txt",
      ".hidden/2026-11-30__04-39-55/evaluation.json",
      "a/b/c/d/e/evaluation.json",
    ]);
    expect(await jobsBelow(root)).toEqual([
      "2026-11-30__04-39-55",
      "2026-11-30__04-39-56",
      "nightly",
      "oracle/trial-01/2026-11-30__04-42-40",
      "oracle/trial-02/2026-11-30__04-42-41",
      "running",
    ]);
  });

  test("that is one job is that job, however it is spelled, and can be read", async () => {
    const jobsDir = join(temporaryFolder(), "jobs");
    const job = await openNew(new FileJobStore(jobsDir), jobsDir);
    await sealedAttempt(job, "alpha");
    await job.close();
    for (const root of [job.dir, `${job.dir}/`, `${job.dir}/.`, `${jobsDir}/./${job.jobName}`]) {
      const store = new FileJobStore(root);
      const [ref, ...more] = await collect(store.listJobs(root));
      expect(more).toEqual([]);
      if (ref === undefined) throw new Error("no job");
      const names = (await collect((await store.readJob(ref)).attempts())).map(
        ({ rolloutName }) => rolloutName,
      );
      expect(names).toEqual(["alpha__00000001"]);
    }
  });

  test("never shows the insides of a job as jobs", async () => {
    const root = join(temporaryFolder(), "jobs");
    await makeFiles(root, [
      "nightly/evaluation.json",
      "nightly/alpha__0a1b2c3d/evidence/evaluation.json",
      "nightly/deep/2026-11-30__04-39-55/evaluation.json",
    ]);
    expect(await jobsBelow(root)).toEqual(["nightly"]);
  });

  test("with hostile names shows them as they are", async () => {
    const root = join(temporaryFolder(), "jobs");
    const names = ["a\nb", "é", "é", "%2e%2e", "con", "x".repeat(200)];
    await makeFiles(
      root,
      names.map((name) => `${name}/evaluation.json`),
    );
    expect(new Set(await jobsBelow(root))).toEqual(new Set(names));
  });
});
