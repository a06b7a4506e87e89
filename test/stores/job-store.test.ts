import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "vitest";
import { attemptFolderContract } from "../../stores/contract/attempt-folder-contract.ts";
import { jobStoreContract } from "../../stores/contract/job-store-contract.ts";
import type { JobStoreFixture } from "../../stores/contract/job-store-fixture.ts";
import { FileJobStore } from "../../stores/files/file-job-store.ts";
import { emptyDisk } from "../fakes/memory-disk.ts";
import { MemoryJobStore } from "../fakes/memory-store.ts";

let dir = "";

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "bench-store-"));
});

afterEach(async () => {
  await rm(dir, { recursive: true });
});

const makers: Record<string, () => JobStoreFixture> = {
  "on disk": () => {
    const jobsDir = join(dir, "jobs");
    return { store: new FileJobStore(jobsDir), rival: new FileJobStore(jobsDir), jobsDir };
  },
  "in memory": () => {
    const disk = emptyDisk();
    const [store, rival] = [new MemoryJobStore(disk), new MemoryJobStore(disk)];
    return { store, rival, jobsDir: "jobs" };
  },
};

describe.each(Object.entries(makers))("a job store %s", (_, make) => {
  test.each([...jobStoreContract, ...attemptFolderContract])("$promise", async ({ check }) => {
    await check(make());
  });
});
