import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { FileJobStore } from "../../../stores/files/file-job-store.ts";
import { startedBy } from "../../core/plan/plan-builders.ts";
import { planFrom } from "./plan-from.ts";
import { EVALUATION, JOB_NAME, resultText } from "./result-text.ts";
import { openNew, sealedAttempt, treeOf } from "./store-builders.ts";

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const FULL = { kind: "unavailable", message: expect.stringContaining("no space left on device") };

/** A real file system of that size, which only root can mount. */
async function smallDisk(options: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "bench-disk-"));
  await run("mount", ["-t", "tmpfs", "-o", options, "tmpfs", dir]);
  onTestFinished(async () => {
    await run("umount", [dir]);
    await rm(dir, { recursive: true });
  });
  return dir;
}

async function fill(dir: string): Promise<string> {
  const path = join(dir, "filler");
  await writeFile(path, Buffer.alloc(16 * 1024 * 1024)).catch(() => undefined);
  return path;
}

async function* bytes(count: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < count; at += 65_536) yield Buffer.alloc(65_536, 7);
}

describe.skipIf(!isRoot)("a disk that fills up in mid-run (root mounts it)", () => {
  test("leaves nothing half-written, says so with the path, and the resume completes", async () => {
    const disk = await smallDisk("size=1m");
    const jobsDir = join(disk, "jobs");
    const store = new FileJobStore(jobsDir);
    const job = await openNew(store, jobsDir);
    await sealedAttempt(job, "alpha");
    const attempt = await job.openAttempt("beta__00000001");
    const before = await treeOf(jobsDir);
    const path = "evidence/workspace.tar";
    await expect(attempt.writeStream(path, bytes(4 << 20))).rejects.toMatchObject({
      ...FULL,
      message: expect.stringContaining(`${JOB_NAME}/beta__00000001/${path}`),
      next: expect.stringContaining("free some space"),
    });
    const isNew = (each: string): boolean => !before.includes(each);
    expect((await treeOf(jobsDir)).filter(isNew)).toEqual([`${JOB_NAME}/beta__00000001/evidence/`]);
    const filler = await fill(disk);
    await expect(attempt.seal(resultText("beta"))).rejects.toMatchObject(FULL);
    await expect(job.write("summary.json", Buffer.alloc(65_536))).rejects.toMatchObject(FULL);
    expect(await readdir(join(job.dir, "beta__00000001"))).not.toContain("result.json");
    await job.close();
    await rm(filler);
    const plan = await planFrom(store, jobsDir, ["alpha", "beta"]);
    expect(startedBy(plan)).toEqual(["1/beta"]);
    const request = { jobsDir, jobName: JOB_NAME, mode: "resume", evaluation: EVALUATION } as const;
    const resumed = await store.openJob(request);
    await sealedAttempt(resumed, "beta", { attempt: 2 });
    await resumed.close();
    expect(startedBy(await planFrom(store, jobsDir, ["alpha", "beta"]))).toEqual([]);
  });

  test("takes back the line of a live file that did not fit, and refuses later ones", async () => {
    const disk = await smallDisk("size=512k");
    const jobsDir = join(disk, "jobs");
    const job = await openNew(new FileJobStore(jobsDir), jobsDir);
    const attempt = await job.openAttempt("alpha__00000001");
    const live = await attempt.append("trajectory/acp_trajectory.jsonl");
    await live.append(Buffer.from("first line\n"));
    const filler = await fill(disk);
    await expect(live.append(Buffer.alloc(65_536, 120))).rejects.toMatchObject(FULL);
    await rm(filler);
    await expect(live.append(Buffer.from("later\n"))).rejects.toMatchObject(FULL);
    await live.close();
    const text = await readFile(
      join(job.dir, "alpha__00000001/trajectory/acp_trajectory.jsonl"),
      "utf8",
    );
    expect(text).toBe("first line\n");
    await job.close();
  });

  test("refuses a new job whole", async () => {
    const disk = await smallDisk("size=64k,nr_inodes=8");
    await fill(disk);
    const jobsDir = join(disk, "jobs");
    await expect(openNew(new FileJobStore(jobsDir), jobsDir)).rejects.toMatchObject(FULL);
    expect(await treeOf(disk)).toEqual(["filler"]);
  });
});

describe.skipIf(!isRoot)("a jobs folder that may not be written (root mounts it)", () => {
  test("because the file system is read-only is a usage error before anything is made", async () => {
    const disk = await smallDisk("size=1m,ro");
    const store = new FileJobStore(join(disk, "jobs"));
    const refusal = {
      kind: "usage",
      message: expect.stringContaining("the file system is read-only"),
    };
    await expect(store.checkWritable(join(disk, "jobs"))).rejects.toMatchObject(refusal);
    await expect(openNew(store, join(disk, "jobs"))).rejects.toMatchObject(refusal);
    expect(await treeOf(disk)).toEqual([]);
  });

  test("because it is another user's is a usage error too", async () => {
    const disk = await smallDisk("size=4m,mode=755");
    const script = `
      import { FileJobStore } from ${JSON.stringify(new URL("../../../stores/files/file-job-store.ts", import.meta.url).pathname)};
      const store = new FileJobStore(${JSON.stringify(join(disk, "jobs"))});
      const kinds = [];
      await store.checkWritable(${JSON.stringify(join(disk, "jobs"))}).catch((error) => kinds.push(error.kind));
      const request = { jobsDir: ${JSON.stringify(join(disk, "jobs"))}, jobName: "x", mode: "new", evaluation: "" };
      await store.openJob(request).catch((error) => kinds.push(error.kind, error.message));
      console.log(JSON.stringify(kinds));
    `;
    const { build } = await import("esbuild");
    const outfile = join(disk, "as-nobody.mjs");
    await build({
      stdin: { contents: script, resolveDir: "/", loader: "ts" },
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "silent",
    });
    const { stdout } = await run("setpriv", [
      "--reuid=65534",
      "--regid=65534",
      "--clear-groups",
      process.execPath,
      outfile,
    ]);
    expect(JSON.parse(stdout)).toEqual([
      "usage",
      "usage",
      `no jobs can be written to ${join(disk, "jobs")}: permission denied`,
    ]);
    expect(await treeOf(disk)).toEqual(["as-nobody.mjs"]);
  });
});
