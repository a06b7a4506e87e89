import { readFile, rm, stat, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { FileJobStore } from "../../../stores/files/file-job-store.ts";
import { bodyOfBytes } from "../../../stores/objects/object-body.ts";
import { RunLayout, LARGE_FILE_BYTES } from "../../../stores/objects/run-layout.ts";
import { syncJob } from "../../../stores/objects/sync-job.ts";
import { uploadAttempt } from "../../../stores/objects/upload-attempt.ts";
import { MemoryObjects } from "../../fakes/memory-objects.ts";
import {
  openNew,
  sealedAttempt,
  snapshotOf,
  temporaryFolder,
  treeOf,
} from "../files/store-builders.ts";

const layout = new RunLayout("nightly");
let objects = new MemoryObjects();
let source = "";
let copy = "";

/** A job with attempts of two tasks, one with a file too large for the archive, uploaded. */
beforeEach(async () => {
  objects = new MemoryObjects();
  copy = temporaryFolder();
  const jobs = temporaryFolder();
  const job = await openNew(new FileJobStore(jobs), jobs);
  const large = await job.openAttempt("gamma__00000001");
  await large.write("artifacts/large.bin", Buffer.alloc(LARGE_FILE_BYTES + 1, 7));
  await large.write("artifacts/odd: name?.txt", "x");
  await large.seal("{}");
  const names = [
    await sealedAttempt(job, "alpha"),
    await sealedAttempt(job, "beta"),
    "gamma__00000001",
  ];
  source = job.dir;
  for (const name of names) await uploadAttempt(objects, join(source, name), layout.attempt(name));
  await job.close();
});

async function writeManifest(complete = true): Promise<void> {
  const summary = bodyOfBytes('{"summary": true}\n');
  await objects.create(layout.jobFile("summary.json"), summary);
  const seals = [...objects.objects.keys()].filter((key) => key.endsWith("/seal.json")).toSorted();
  const attempts = seals.map((key) => ({
    rollout_name: layout.attemptOf(key)?.rolloutName ?? "",
    seal_sha256: bodyOfBytes(objects.objects.get(key)?.bytes ?? "").sha256,
  }));
  const files = [{ path: "summary.json", size: summary.sizeBytes, sha256: summary.sha256 }];
  const manifest = { schema_version: 1, complete, files, attempts };
  await objects.replace(layout.manifest, Buffer.from(JSON.stringify(manifest)), null);
}

async function attemptTrees(dir: string): Promise<string[]> {
  return (await treeOf(dir)).filter((path) => /^(?:alpha|beta|gamma)/u.test(path));
}

describe("a sync", () => {
  test("gives the tree of the job as its runner wrote it, byte for byte", async () => {
    await writeManifest();
    const synced = await syncJob(objects, layout, copy);
    expect(synced).toMatchObject({ attempts: 3, complete: true, kept: [] });
    expect(await attemptTrees(copy)).toEqual(await attemptTrees(source));
    for (const path of (await attemptTrees(source)).filter((each) => !each.endsWith("/")))
      expect(await readFile(join(copy, path)), path).toEqual(await readFile(join(source, path)));
    const ref = { jobsDir: join(copy, ".."), jobName: copy.split("/").at(-1) ?? "" };
    const check = await new FileJobStore(ref.jobsDir).checkSeal(ref, "gamma__00000001");
    expect(check).toEqual({ state: "intact", problems: [], extra: [] });
  });

  test("without a change is one request and touches nothing", async () => {
    await writeManifest();
    await syncJob(objects, layout, copy);
    const before = await snapshotOf(copy);
    objects.calls.length = 0;
    expect(await syncJob(objects, layout, copy)).toMatchObject({
      attempts: 3,
      fetched: 0,
      complete: true,
    });
    expect(objects.calls).toEqual([`open ${layout.manifest}`]);
    expect(await snapshotOf(copy)).toEqual(before);
  });

  test("brings what has ended while the run goes on, and the rest later", async () => {
    objects.objects.delete(layout.attempt("beta__00000001").object("seal"));
    expect(await syncJob(objects, layout, copy)).toMatchObject({ attempts: 2, complete: false });
    expect(await attemptTrees(copy)).not.toContain("beta__00000001/");
    await uploadAttempt(objects, join(source, "beta__00000001"), layout.attempt("beta__00000001"));
    await writeManifest();
    objects.calls.length = 0;
    expect(await syncJob(objects, layout, copy)).toMatchObject({ attempts: 3, complete: true });
    // What was here already is not asked for again.
    expect(objects.calls.filter((call) => call.includes("alpha__"))).toEqual([]);
    expect(await attemptTrees(copy)).toEqual(await attemptTrees(source));
  });

  test("also brings what was sealed after the manifest was written", async () => {
    const seal = layout.attempt("beta__00000001").object("seal");
    const late = objects.objects.get(seal);
    objects.objects.delete(seal);
    await writeManifest(false);
    expect(await syncJob(objects, layout, copy)).toMatchObject({ attempts: 2, complete: false });
    if (late !== undefined) objects.objects.set(seal, late);
    expect(await syncJob(objects, layout, copy)).toMatchObject({ attempts: 3, complete: false });
    expect(await attemptTrees(copy)).toEqual(await attemptTrees(source));
  });

  test("of a later run of the same job brings what has ended, though the earlier one is whole", async () => {
    await writeManifest();
    await syncJob(objects, layout, copy);
    const later = new RunLayout("nightly-again");
    const jobs = temporaryFolder();
    const job = await openNew(new FileJobStore(jobs), jobs);
    const name = await sealedAttempt(job, "delta");
    await uploadAttempt(objects, join(job.dir, name), later.attempt(name));
    await job.close();
    expect(await syncJob(objects, later, copy)).toMatchObject({ attempts: 1, complete: false });
    expect(await treeOf(copy)).toContain(`${name}/seal.json`);
  });

  test("finds and repairs a file that is gone or has other bytes, and keeps the changed one", async () => {
    await writeManifest();
    await syncJob(objects, layout, copy);
    const [gone, changed] = [
      "alpha__00000001/verifier/reward.txt",
      "beta__00000001/verifier/reward.txt",
    ];
    await unlink(join(copy, gone));
    await writeFile(join(copy, changed), "my own note\n");
    const synced = await syncJob(objects, layout, copy);
    expect(synced.fetched).toBe(2);
    expect(await readFile(join(copy, gone), "utf8")).toBe("1\n");
    expect(await readFile(join(copy, changed), "utf8")).toBe("1\n");
    expect(synced.kept).toHaveLength(1);
    expect(await readFile(synced.kept[0] ?? "", "utf8")).toBe("my own note\n");
  });

  test("finds bytes that changed although size and time did not, when asked to verify", async () => {
    await writeManifest();
    await syncJob(objects, layout, copy);
    const index = JSON.parse(await readFile(join(copy, ".bench-sync.json"), "utf8"));
    const path = join(copy, "alpha__00000001/verifier/reward.txt");
    await writeFile(path, "0\n");
    const { size, mtimeNs, ino } = await stat(path, { bigint: true });
    index.folders["alpha__00000001"].files["verifier/reward.txt"].mark =
      `${size}:${mtimeNs}:${ino}`;
    await writeFile(join(copy, ".bench-sync.json"), JSON.stringify(index));
    expect((await syncJob(objects, layout, copy)).fetched).toBe(0);
    expect((await syncJob(objects, layout, copy, { verify: true })).fetched).toBe(1);
    expect(await readFile(path, "utf8")).toBe("1\n");
  });

  test("lets no file appear whose bytes are not those that were sealed", async () => {
    const result = layout.attempt("alpha__00000001").object("result");
    objects.objects.set(result, { bytes: Buffer.from('{"forged": 1}'), version: '"x"' });
    await expect(syncJob(objects, layout, copy)).rejects.toThrow("did not arrive as it was sealed");
    expect(await treeOf(copy)).not.toContain("alpha__00000001/result.json");
    expect(await treeOf(copy)).not.toContain("alpha__00000001/seal.json");
  });

  test("writes nothing outside the job, whatever a seal says", async () => {
    for (const path of ["../escape", "/etc/escape", "a/../../escape", "a\0b", "a//b"]) {
      const seal = {
        schema_version: 1,
        files: [
          { path, size: 1, sha256: "0".repeat(64) },
          { path: "result.json", size: 1, sha256: "0".repeat(64) },
        ],
      };
      const key = layout.attempt("alpha__00000001").object("seal");
      objects.objects.set(key, { bytes: Buffer.from(JSON.stringify(seal)), version: '"x"' });
      await expect(syncJob(objects, layout, copy), path).rejects.toMatchObject({ kind: "config" });
    }
    expect(await stat(join(copy, "../escape")).catch(() => null)).toBeNull();
  });

  test("goes on after a kill between any two writes", async () => {
    await writeManifest();
    await syncJob(objects, layout, copy);
    const files = (await attemptTrees(copy)).filter(
      (path) => path.startsWith("gamma") && !path.endsWith("/"),
    );
    for (const path of files) {
      await rm(join(copy, path));
      await rm(join(copy, ".bench-sync.json"));
      expect((await syncJob(objects, layout, copy)).kept, path).toEqual([]);
      expect(await attemptTrees(copy)).toEqual(await attemptTrees(source));
    }
  });
});

describe("an upload", () => {
  test("done again changes nothing, and writes its seal last", async () => {
    const name = "alpha__00000001";
    objects.calls.length = 0;
    await uploadAttempt(objects, join(source, name), layout.attempt(name));
    expect(objects.calls.at(-1)).toBe(`create ${layout.attempt(name).object("seal")}`);
  });

  test("never takes the place of other bytes", async () => {
    const name = "alpha__00000001";
    const key = layout.attempt(name).object("result");
    objects.objects.set(key, { bytes: Buffer.from("other"), version: '"x"' });
    await expect(uploadAttempt(objects, join(source, name), layout.attempt(name))).rejects.toThrow(
      "is there already, with other bytes",
    );
    expect(objects.objects.get(key)?.bytes.toString()).toBe("other");
  });
});

test.each(["", "a/b", "../x", "ü", "a b", "x".repeat(65), "-x"])(
  "%j is no name for a run",
  (name) => {
    expect(() => new RunLayout(name)).toThrow("no name for a run");
  },
);
