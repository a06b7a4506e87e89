import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { identifyProcess } from "../../../host/process-identity.ts";
import { FileJobStore } from "../../../stores/files/file-job-store.ts";
import { Lease } from "../../../stores/files/lease.ts";
import { EVALUATION, JOB_NAME, resultText } from "./result-text.ts";
import { startRival } from "./start-rival.ts";
import { openNew, sealedAttempt, temporaryFolder, treeOf } from "./store-builders.ts";

const OPTIONS = { leaseMs: 60_000, owner: identifyProcess() };
const TOKEN = "0123456789abcdef0123456789abcdef";
const HOUR_MS = 3_600_000;

/** A lease as another owner left it, at once: no renewal of a lease that is held comes in between. */
function plantLease(dir: string, owner: string, expiresInMs: number): void {
  mkdirSync(join(dir, ".evaluation.lease"));
  const text = { pid: 4711, host: "elsewhere", started_at: "2026-11-04T18:24:21Z", owner };
  const name = `${TOKEN}.${Date.now() + expiresInMs}`;
  writeFileSync(join(dir, ".evaluation.lease", name), JSON.stringify(text));
}

const STRANGER = "another-boot/1/4711/99";

describe("a lease", () => {
  test("is shown while it is held and leaves nothing behind", async () => {
    const dir = temporaryFolder();
    const lease = await Lease.take(dir, OPTIONS);
    const lock = JSON.parse(await readFile(join(dir, ".evaluation.lock"), "utf8"));
    expect(lock).toMatchObject({
      pid: process.pid,
      host: hostname(),
      owner: OPTIONS.owner,
      token: lease.token,
    });
    expect(Date.parse(lock.expires_at) - Date.parse(lock.started_at)).toBeGreaterThan(59_000);
    await lease.release();
    await lease.release();
    expect(await treeOf(dir)).toEqual([]);
  });

  test("of a live process is refused, naming it, however long ago it should have ended", async () => {
    const dir = temporaryFolder();
    plantLease(dir, identifyProcess(), -HOUR_MS);
    await expect(Lease.take(dir, OPTIONS)).rejects.toMatchObject({
      kind: "usage",
      message: `job ${dir} is already running in process 4711 on elsewhere`,
      next: "wait for it to end, or pass --fresh for a new job",
    });
  });

  test("of an owner that cannot be looked up is left alone until it ends, then taken over", async () => {
    const dir = temporaryFolder();
    plantLease(dir, STRANGER, HOUR_MS);
    await expect(Lease.take(dir, OPTIONS)).rejects.toMatchObject({
      next: expect.stringMatching(/^run the same command again after 2/u),
    });
    const ended = temporaryFolder();
    plantLease(ended, STRANGER, -1);
    const lease = await Lease.take(ended, OPTIONS);
    await lease.release();
  });

  test("of a dead process is taken over at once", async () => {
    const dir = temporaryFolder();
    const [boot, namespace, pid] = identifyProcess().split("/");
    plantLease(dir, `${boot}/${namespace}/${pid}/1`, HOUR_MS);
    const lease = await Lease.take(dir, OPTIONS);
    expect(await readdir(join(dir, ".evaluation.lease"))).toHaveLength(1);
    await lease.release();
  });

  test("is renewed for as long as its owner lives", async () => {
    const dir = temporaryFolder();
    const lease = await Lease.take(dir, { ...OPTIONS, leaseMs: 80 });
    const [first] = await readdir(join(dir, ".evaluation.lease"));
    await delay(200);
    const [later] = await readdir(join(dir, ".evaluation.lease"));
    expect(Number(later?.split(".")[1])).toBeGreaterThan(Number(first?.split(".")[1]));
    expect(() => {
      lease.check();
    }).not.toThrow();
    await lease.release();
  });

  test("that another has taken over is noticed by the next renewal", async () => {
    const dir = temporaryFolder();
    const lease = await Lease.take(dir, { ...OPTIONS, leaseMs: 40 });
    rmSync(join(dir, ".evaluation.lease"), { recursive: true });
    plantLease(dir, STRANGER, HOUR_MS);
    await once(lease.lost, "abort");
    expect(lease.lost.reason.message).toContain("was taken over by another process");
    await lease.release();
    expect(await readdir(join(dir, ".evaluation.lease"))).toHaveLength(1);
  });

  test("is not given while BenchFlow's own lock is held on this host or any other", async () => {
    const dir = temporaryFolder();
    const lockOf = async (pid: number, host: string): Promise<void> => {
      const lock = { pid, host, started_at: "2026-11-04T18:24:21" };
      await writeFile(join(dir, ".evaluation.lock"), JSON.stringify(lock));
    };
    await lockOf(process.pid, hostname());
    await expect(Lease.take(dir, OPTIONS)).rejects.toThrow(`process ${process.pid}`);
    await lockOf(1, "elsewhere");
    await expect(Lease.take(dir, OPTIONS)).rejects.toThrow("process 1 on elsewhere");
    expect(await treeOf(dir)).toEqual([".evaluation.lock"]);
    await lockOf(2 ** 22 + 1, hostname());
    await (await Lease.take(dir, OPTIONS)).release();
    await writeFile(join(dir, ".evaluation.lock"), "");
    await (await Lease.take(dir, OPTIONS)).release();
  });
});

describe("of many that want one dead owner's lease", () => {
  test("exactly one of a process's own gets it, each time", async () => {
    const root = temporaryFolder();
    const [boot, namespace, pid] = identifyProcess().split("/");
    for (let round = 0; round < 20; round += 1) {
      const dir = await mkdtemp(join(root, "job-"));
      plantLease(dir, `${boot}/${namespace}/${pid}/1`, HOUR_MS);
      const tries = Array.from({ length: 20 }, () => Lease.take(dir, OPTIONS));
      const settled = await Promise.allSettled(tries);
      const won = settled.filter(({ status }) => status === "fulfilled");
      expect(won).toHaveLength(1);
      for (const result of settled) if (result.status === "fulfilled") await result.value.release();
    }
  });

  test("exactly one of several processes gets it, each time", async () => {
    const root = temporaryFolder();
    const killed = await startRival();
    const template = join(root, "template");
    await mkdir(template);
    expect(await killed.ask(`take ${template}`)).toBe("won");
    killed.child.kill("SIGKILL");
    await once(killed.child, "exit");
    const rivals = await Promise.all([startRival(), startRival(), startRival()]);
    for (let round = 0; round < 20; round += 1) {
      const dir = join(root, String(round));
      await cp(template, dir, { recursive: true });
      const answers = await Promise.all(rivals.map((rival) => rival.ask(`take ${dir}`)));
      expect(answers.filter((answer) => answer === "won")).toEqual(["won"]);
      expect(answers.filter((answer) => answer === "refused")).toHaveLength(2);
      await Promise.all(rivals.map((rival) => rival.ask("release")));
      expect(await treeOf(dir)).toEqual([]);
    }
  });
});

describe("an owner that lost its lease", () => {
  test("writes nothing more: no seal, no result, no summary, no attempt", async () => {
    const jobsDir = join(temporaryFolder(), "jobs");
    const job = await openNew(new FileJobStore(jobsDir), jobsDir);
    const attempt = await job.openAttempt("alpha__00000001");
    await attempt.write("verifier/reward.txt", "1\n");
    const lease = join(jobsDir, JOB_NAME, ".evaluation.lease");
    await rm(lease, { recursive: true });
    plantLease(join(jobsDir, JOB_NAME), STRANGER, HOUR_MS);
    const before = await treeOf(jobsDir);
    const lost = { kind: "unavailable", message: expect.stringContaining("was taken over") };
    await expect(attempt.seal(resultText("alpha"))).rejects.toMatchObject(lost);
    await expect(attempt.write("late.txt", "x")).rejects.toMatchObject(lost);
    await expect(job.write("summary.json", "{}")).rejects.toMatchObject(lost);
    await expect(job.openAttempt("beta__00000001")).rejects.toMatchObject(lost);
    expect(job.lost.aborted).toBe(true);
    await job.close();
    expect(await treeOf(jobsDir)).toEqual(before);
  });
});

test("two runs that start in the same second in two processes both keep their jobs (C-3)", async () => {
  const jobsDir = join(temporaryFolder(), "jobs");
  const script = `
    import { FileJobStore } from ${JSON.stringify(fileURLToPath(new URL("../../../stores/files/file-job-store.ts", import.meta.url)))};
    const store = new FileJobStore(${JSON.stringify(jobsDir)});
    const request = { jobsDir: ${JSON.stringify(jobsDir)}, jobName: ${JSON.stringify(JOB_NAME)}, mode: "new-automatic" };
    const job = await store.openJob({ ...request, evaluation: ${JSON.stringify(EVALUATION)} });
    const attempt = await job.openAttempt("alpha__00000001");
    await attempt.seal(${JSON.stringify(resultText("alpha"))});
    await job.close();
  `;
  const runs = Array.from({ length: 4 }, () => {
    const child = spawn(
      process.execPath,
      ["--import", "tsx", "--input-type=module", "--eval", script],
      { stdio: "inherit" },
    );
    return once(child, "exit");
  });
  expect((await Promise.all(runs)).map(([code]) => code)).toEqual([0, 0, 0, 0]);
  const store = new FileJobStore(jobsDir);
  const names = await store.jobNames(jobsDir);
  expect(names).toEqual([21, 22, 23, 24].map((second) => `2026-11-04__18-24-${second}`));
  for (const jobName of names) {
    const check = await store.checkSeal({ jobsDir, jobName }, "alpha__00000001");
    expect(check.state).toBe("intact");
  }
});

test("a second command on a job that runs is refused and changes nothing", async () => {
  const jobsDir = join(temporaryFolder(), "jobs");
  const store = new FileJobStore(jobsDir);
  const job = await openNew(store, jobsDir);
  await sealedAttempt(job, "alpha");
  const before = await treeOf(jobsDir);
  const request = { jobsDir, jobName: JOB_NAME, mode: "resume", evaluation: "{}" } as const;
  await expect(store.openJob(request)).rejects.toThrow(
    `job ${jobsDir}/${JOB_NAME} is already running in process ${process.pid}`,
  );
  expect(await treeOf(jobsDir)).toEqual(before);
  await job.close();
});
