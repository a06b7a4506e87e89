import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { FileJobStore } from "../../../stores/files/file-job-store.ts";
import { startRival } from "./start-rival.ts";
import { openNew, temporaryFolder, treeOf } from "./store-builders.ts";

const NEVER = new AbortController().signal;
const HOUR_MS = 3_600_000;

/** A claim whose holder cannot be looked up from here. */
function plantClaim(dir: string, expiresInMs: number): void {
  mkdirSync(join(dir, ".start-a1"), { recursive: true });
  const owner = "another-boot/1/4711/99";
  const text = { pid: 4711, host: "elsewhere", started_at: "2026-11-04T18:24:21Z", owner };
  const name = `0123456789abcdef0123456789abcdef.${Date.now() + expiresInMs}`;
  writeFileSync(join(dir, ".start-a1", name), JSON.stringify(text));
}

test("a process that was killed while it started keeps nobody waiting", async () => {
  const jobsDir = join(temporaryFolder(), "jobs");
  const rival = await startRival();
  expect(await rival.ask(`claim ${jobsDir}`)).toBe("claimed");
  const store = new FileJobStore(jobsDir, { claimWaitMs: 50 });
  await expect(store.claimStart("a1", NEVER)).rejects.toMatchObject({
    kind: "usage",
    message: `the same command is already being started in ${jobsDir} in process ${String(rival.child.pid)}`,
  });
  rival.child.kill("SIGKILL");
  await once(rival.child, "exit");
  const claim = await store.claimStart("a1", NEVER);
  await claim.release();
  expect(await treeOf(jobsDir)).toEqual([]);
});

test("a holder that takes the folder that it had made away again keeps nobody from going on", async () => {
  for (let turn = 0; turn < 20; turn += 1) {
    const jobsDir = join(temporaryFolder(), "jobs");
    const first = await new FileJobStore(jobsDir).claimStart("a1", NEVER);
    const waiting = new FileJobStore(jobsDir).claimStart("a1", NEVER);
    await delay(turn);
    await first.release();
    await (await waiting).release();
    // Whoever made it last takes it away; one that found it there leaves it.
    expect(existsSync(jobsDir) ? await treeOf(jobsDir) : []).toEqual([]);
  }
});

test("a holder that cannot be looked up is waited for until its lease has ended", async () => {
  const jobsDir = join(temporaryFolder(), "jobs");
  plantClaim(jobsDir, HOUR_MS);
  const store = new FileJobStore(jobsDir, { claimWaitMs: 50 });
  await expect(store.claimStart("a1", NEVER)).rejects.toMatchObject({
    message: expect.stringContaining("in process 4711 on elsewhere"),
    next: expect.stringMatching(/^run the same command again after 2/u),
  });
  const other = join(temporaryFolder(), "jobs");
  plantClaim(other, -1);
  await (await new FileJobStore(other).claimStart("a1", NEVER)).release();
});

test("a claim leaves no folder behind: not its own, nor one that it made for a job without work", async () => {
  const root = temporaryFolder();
  const jobsDir = join(root, "made", "jobs");
  const store = new FileJobStore(jobsDir);
  const refused = await store.claimStart("a1", NEVER);
  await refused.release();
  expect(await treeOf(root)).toEqual([]);
  const claim = await store.claimStart("a1", NEVER);
  const job = await openNew(store, jobsDir);
  await claim.release();
  expect(await store.jobNames(jobsDir)).toHaveLength(1);
  await job.close();
  expect(await treeOf(root)).toEqual([]);
});

test("a name that leaves the jobs folder is refused", async () => {
  const root = temporaryFolder();
  const store = new FileJobStore(join(root, "jobs"));
  await expect(store.claimStart("x/../../y", NEVER)).rejects.toThrow("x/../../y");
  expect(await treeOf(root)).toEqual([]);
});
