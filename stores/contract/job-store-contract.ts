import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import type { StartClaim } from "../../core/ports/job-store.ts";
import { collect, EVALUATION, isBenchError, NAME, open, started } from "./job-store-fixture.ts";
import type { JobStoreCase } from "./job-store-fixture.ts";

const NEVER = new AbortController().signal;

/** What every `JobStore` promises, as data, so that each adapter and each fake runs the same cases. */
export const jobStoreContract: readonly JobStoreCase[] = [
  {
    promise: "finds a new job by its name, with its evaluation as it was given",
    check: async (fixture) => {
      await started(fixture, { jobName: "nightly", mode: "new" });
      const { store, jobsDir } = fixture;
      assert.deepEqual(await store.jobNames(jobsDir), ["nightly"]);
      const job = await store.readJob({ jobsDir, jobName: "nightly" });
      assert.equal(job.evaluation, EVALUATION);
      assert.equal(job.foreign, false);
    },
  },
  {
    promise: "has no jobs where there is no folder",
    check: async ({ store, jobsDir }) => {
      assert.deepEqual(await store.jobNames(`${jobsDir}/oracle/trial-01`), []);
      assert.deepEqual(await collect(store.listJobs(jobsDir)), []);
    },
  },
  {
    promise: "refuses a second new job of a chosen name",
    check: async (fixture) => {
      await started(fixture, { jobName: "nightly", mode: "new" });
      await assert.rejects(
        open(fixture, { jobName: "nightly", mode: "new" }),
        isBenchError("usage"),
      );
    },
  },
  {
    promise: "names two jobs of one second by two seconds, and loses neither",
    check: async (fixture) => {
      const { store, rival, jobsDir } = fixture;
      const both = await Promise.all(
        [store, rival].map((side) => open({ ...fixture, store: side }, {})),
      );
      for (const job of both) await job.openAttempt("alpha__00000001");
      for (const job of both) await job.close();
      assert.deepEqual(await store.jobNames(jobsDir), [NAME, "2026-11-04__18-24-22"]);
    },
  },
  {
    promise: "lets one owner at a time into a job, and the next one after it",
    check: async (fixture) => {
      const job = await open(fixture, {});
      await job.openAttempt("alpha__00000001");
      const other = { ...fixture, store: fixture.rival };
      await assert.rejects(open(other, { mode: "resume" }), isBenchError("usage"));
      await job.close();
      await job.close();
      const next = await open(other, { mode: "resume" });
      assert.notEqual(next.token, job.token);
      await next.close();
    },
  },
  {
    promise: "lets one process at a time decide how a run starts, and keeps no other run waiting",
    check: async ({ store, rival }) => {
      const first = await store.claimStart("a1", NEVER);
      let second: StartClaim | null = null;
      const waiting = rival.claimStart("a1", NEVER).then((claim) => (second = claim));
      const other = await rival.claimStart("b2", NEVER);
      await other.release();
      await setTimeout(60);
      assert.equal(second, null);
      await first.release();
      const claim = await waiting;
      // Released long ago: nothing of the new holder's goes with it.
      await first.release();
      await assert.rejects(store.claimStart("a1", AbortSignal.timeout(60)));
      await claim.release();
      await (await store.claimStart("a1", NEVER)).release();
    },
  },
  {
    promise: "stops waiting for another run's start when it is told to, with the reason",
    check: async ({ store, rival }) => {
      const held = await store.claimStart("a1", NEVER);
      const stop = new AbortController();
      const waiting = rival.claimStart("a1", stop.signal);
      waiting.catch(() => undefined);
      await setTimeout(10);
      stop.abort("stopped");
      await assert.rejects(waiting);
      await held.release();
    },
  },
  {
    promise: "shows no job while a run starts, and leaves nothing behind when none was made",
    check: async ({ store, jobsDir }) => {
      const claim = await store.claimStart("a1", NEVER);
      assert.deepEqual(await store.jobNames(jobsDir), []);
      assert.deepEqual(await collect(store.listJobs(jobsDir)), []);
      await claim.release();
      assert.deepEqual(await store.jobNames(jobsDir), []);
    },
  },
  {
    promise: "removes a job that no attempt was started in",
    check: async (fixture) => {
      const jobsDir = `${fixture.jobsDir}/oracle/trial-01`;
      const job = await open(fixture, { jobsDir });
      await job.close();
      assert.deepEqual(await fixture.store.jobNames(jobsDir), []);
      assert.deepEqual(await fixture.store.jobNames(fixture.jobsDir), []);
    },
  },
  {
    promise: "replaces a job's own files and a jobs folder's, and reads them back",
    check: async (fixture) => {
      const job = await open(fixture, {});
      await job.openAttempt("alpha__00000001");
      assert.equal(await job.read("summary.json"), null);
      await job.write("summary.json", "1");
      await job.write("summary.json", "2");
      assert.equal(new TextDecoder().decode((await job.read("summary.json")) ?? undefined), "2");
      await fixture.store.write(fixture.jobsDir, "summary.json", "2");
      await job.close();
      assert.deepEqual(await fixture.store.jobNames(fixture.jobsDir), [NAME]);
    },
  },
  {
    promise: "lists every job, plain and of repeats, in order",
    check: async (fixture) => {
      const { store, jobsDir } = fixture;
      const repeats = [`${jobsDir}/oracle/trial-01`, `${jobsDir}/oracle/trial-02`];
      for (const dir of [jobsDir, ...repeats.toReversed()]) {
        await started(fixture, { jobsDir: dir });
      }
      const found = await collect(store.listJobs(jobsDir));
      const places = [jobsDir, ...repeats];
      assert.deepEqual(
        found,
        places.map((dir) => ({ jobsDir: dir, jobName: NAME })),
      );
    },
  },
  {
    promise: "takes a new evaluation when a resume asks for something else",
    check: async (fixture) => {
      await started(fixture, {});
      const evaluation = '{"tasks_dir": "more"}\n';
      const job = await open(fixture, { mode: "resume", evaluation });
      await job.close();
      assert.equal((await fixture.store.readJob(job)).evaluation, evaluation);
    },
  },
];
