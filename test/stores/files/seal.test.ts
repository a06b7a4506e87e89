import { appendFile, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BenchError } from "../../../core/errors.ts";
import type { JobFolder } from "../../../core/ports/job-store.ts";
import { chunks } from "../../../stores/contract/job-store-fixture.ts";
import { FileJobStore } from "../../../stores/files/file-job-store.ts";
import { resultText } from "./result-text.ts";
import { openNew, temporaryFolder, treeOf } from "./store-builders.ts";

const NAME = "alpha__00000001";

interface Sealed {
  readonly store: FileJobStore;
  readonly job: JobFolder;
  readonly dir: string;
}

async function sealed(): Promise<Sealed> {
  const jobsDir = join(temporaryFolder(), "jobs");
  const store = new FileJobStore(jobsDir);
  const job = await openNew(store, jobsDir);
  const attempt = await job.openAttempt(NAME);
  await attempt.write("verifier/reward.txt", "1\n");
  await attempt.write("verifier/reward.txt", "0\n");
  const live = await attempt.append("trajectory/acp_trajectory.jsonl");
  await live.append(Buffer.from("one\n"));
  await live.close();
  const more = await attempt.append("trajectory/acp_trajectory.jsonl");
  await more.append(Buffer.from("two\n"));
  await attempt.seal(resultText("alpha"));
  await job.close();
  return { store, job, dir: join(job.dir, NAME) };
}

describe("a seal", () => {
  test("lists every file but itself as it is on disk, whatever way it was written", async () => {
    const { store, job, dir } = await sealed();
    const seal = JSON.parse(await readFile(join(dir, "seal.json"), "utf8"));
    expect(seal).toMatchObject({ schema_version: 1, recovered: false, other: [] });
    expect(seal.files).toEqual([
      {
        path: "result.json",
        size: Buffer.byteLength(resultText("alpha")),
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/u),
      },
      {
        path: "trajectory/acp_trajectory.jsonl",
        size: 8,
        // printf 'one\ntwo\n' | sha256sum
        sha256: "c3f9c8c283a2b1f2f1896f27a01cbe3cddc0c9d93f752e4639035a0f5b36f6e8",
      },
      {
        path: "verifier/reward.txt",
        size: 2,
        // printf '0\n' | sha256sum
        sha256: "9a271f2a916b0b6ee6cecb2426f0b3206ef074578be55d9bc94f6f3fe3ab86aa",
      },
    ]);
    expect(await store.checkSeal(job, NAME)).toEqual({ state: "intact", problems: [], extra: [] });
  });

  test("is broken by one byte changed, in a file of equal size (C-47)", async () => {
    const { store, job, dir } = await sealed();
    await writeFile(join(dir, "verifier/reward.txt"), "1\n");
    expect(await store.checkSeal(job, NAME)).toEqual({
      state: "broken",
      problems: ["verifier/reward.txt has other bytes than sealed"],
      extra: [],
    });
  });

  test("names every file that is missing, longer or new", async () => {
    const { store, job, dir } = await sealed();
    await rm(join(dir, "verifier/reward.txt"));
    await appendFile(join(dir, "trajectory/acp_trajectory.jsonl"), "three\n");
    await writeFile(join(dir, "notes.txt"), "mine");
    expect(await store.checkSeal(job, NAME)).toEqual({
      state: "broken",
      problems: [
        "trajectory/acp_trajectory.jsonl has 14 bytes, sealed with 8",
        "verifier/reward.txt is missing",
      ],
      extra: ["notes.txt"],
    });
  });

  test("that cannot be read is broken, and one that is not there absent", async () => {
    const { store, job, dir } = await sealed();
    await writeFile(join(dir, "seal.json"), '{"schema_version": 1}');
    expect((await store.checkSeal(job, NAME)).problems).toEqual(["seal.json is not a seal"]);
    await rm(join(dir, "seal.json"));
    expect((await store.checkSeal(job, NAME)).state).toBe("absent");
  });
});

async function* breaking(): AsyncGenerator<Uint8Array> {
  yield* chunks(["half"]);
  throw new Error("the stream broke");
}

describe("a write that fails half-way", () => {
  test("leaves the earlier file as it was and nothing beside it", async () => {
    const jobsDir = join(temporaryFolder(), "jobs");
    const job = await openNew(new FileJobStore(jobsDir), jobsDir);
    const attempt = await job.openAttempt(NAME);
    await attempt.write("artifacts/a", "before");
    const tree = await treeOf(jobsDir);
    await expect(attempt.writeStream("artifacts/a", breaking())).rejects.toThrow(
      "the stream broke",
    );
    expect(await treeOf(jobsDir)).toEqual(tree);
    expect(await readFile(join(job.dir, NAME, "artifacts/a"), "utf8")).toBe("before");
    await job.close();
  });

  test("onto a folder says so and leaves the folder", async () => {
    const jobsDir = join(temporaryFolder(), "jobs");
    const job = await openNew(new FileJobStore(jobsDir), jobsDir);
    const attempt = await job.openAttempt(NAME);
    const tree = await treeOf(jobsDir);
    await expect(attempt.write("agent", "x")).rejects.toMatchObject({ kind: "unavailable" });
    expect(await treeOf(jobsDir)).toEqual(tree);
    await job.close();
  });
});

async function readAgain(change: (dir: string) => Promise<void>, path: string): Promise<string> {
  const { store, job, dir } = await sealed();
  await change(dir);
  const { jobsDir, jobName } = job;
  const resumed = await store.openJob({ jobsDir, jobName, mode: "resume", evaluation: "{}" });
  try {
    const attempt = await resumed.openAttempt("alpha__00000002");
    const bytes: Uint8Array[] = [];
    for await (const chunk of attempt.readFrom(NAME, path)) bytes.push(chunk);
    return Buffer.concat(bytes).toString();
  } finally {
    await resumed.close();
  }
}

describe("what an earlier attempt left, read to be verified again", () => {
  const reward = "verifier/reward.txt";

  test("is given while it is what its seal says", async () => {
    expect(await readAgain(async () => {}, reward)).toBe("0\n");
  });

  test("is refused when bytes changed, also to others of equal size", async () => {
    const read = readAgain(async (dir) => await writeFile(join(dir, reward), "1\n"), reward);
    await expect(read).rejects.toThrow(/reward\.txt of alpha__00000001 is not what its seal/u);
    await expect(read).rejects.toBeInstanceOf(BenchError);
  });

  test("is refused when the file was put there after the seal", async () => {
    const path = "agent/work.tar";
    const read = readAgain(async (dir) => await writeFile(join(dir, path), "mine"), path);
    await expect(read).rejects.toThrow(/is not what its seal/u);
  });

  test("is refused when the seal itself cannot be read", async () => {
    const read = readAgain(async (dir) => await writeFile(join(dir, "seal.json"), "{"), reward);
    await expect(read).rejects.toThrow(/is not what its seal/u);
  });
});
