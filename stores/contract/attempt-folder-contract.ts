import assert from "node:assert/strict";
import type { StoredAttempt } from "../../core/ports/job-store.ts";
import { chunks, collect, isBenchError, open } from "./job-store-fixture.ts";
import type { JobStoreCase } from "./job-store-fixture.ts";
import { hostilePaths } from "./hostile-paths.ts";

/** What every store promises of the attempts in it. */
export const attemptFolderContract: readonly JobStoreCase[] = [
  {
    promise: "shows an attempt that was started and not ended as one without a result",
    check: async (fixture) => {
      const job = await open(fixture, {});
      const attempt = await job.openAttempt("alpha__00000001");
      await attempt.write("config.json", "{}");
      const [found] = await collect(job.attempts());
      assert.deepEqual([found?.result, found?.seal, found?.problem], [null, "absent", null]);
      await job.close();
    },
  },
  {
    promise: "gives a sealed attempt back whole, in order of name",
    check: async (fixture) => {
      const job = await open(fixture, {});
      for (const name of ["beta__00000001", "alpha__00000002", "alpha__00000001"]) {
        const attempt = await job.openAttempt(name);
        await attempt.write("evidence/a b/ü.txt", name);
        await attempt.seal(`{"rollout_name": "${name}"}`);
      }
      const found = await collect(job.attempts());
      const expected = ["alpha__00000001", "alpha__00000002", "beta__00000001"];
      assert.deepEqual(found.map(summarize), expected.map(sealedSummary));
      const check = await fixture.store.checkSeal(job, "alpha__00000001");
      assert.deepEqual(check, { state: "intact", problems: [], extra: [] });
      await job.close();
    },
  },
  {
    promise: "writes nothing more into a sealed attempt",
    check: async (fixture) => {
      const job = await open(fixture, {});
      const attempt = await job.openAttempt("alpha__00000001");
      await attempt.seal("{}");
      await assert.rejects(attempt.write("late.txt", "x"), isBenchError("bug"));
      await assert.rejects(attempt.seal("{}"), isBenchError("bug"));
      await assert.rejects(attempt.append("late.txt"), isBenchError("bug"));
      await job.close();
    },
  },
  {
    promise: "never opens an attempt's name twice",
    check: async (fixture) => {
      const job = await open(fixture, {});
      await job.openAttempt("alpha__00000001");
      await assert.rejects(job.openAttempt("alpha__00000001"), isBenchError("bug"));
      await job.close();
    },
  },
  {
    promise: "keeps appended bytes in order, and streams and bytes as they were",
    check: async (fixture) => {
      const job = await open(fixture, {});
      const attempt = await job.openAttempt("alpha__00000001");
      const file = await attempt.append("trajectory/live.jsonl");
      const lines = Array.from({ length: 200 }, (_, index) => `${index}\n`);
      await Promise.all(lines.map((line) => file.append(new TextEncoder().encode(line))));
      await attempt.writeStream("artifacts/all", chunks(lines));
      await attempt.write("artifacts/bytes", Uint8Array.of(0, 255, 10, 13));
      await attempt.write("artifacts/bytes", Uint8Array.of(0, 254));
      await attempt.seal("{}");
      const read = async (path: string): Promise<Buffer> =>
        Buffer.concat(await collect(attempt.readFrom("alpha__00000001", path)));
      assert.equal((await read("trajectory/live.jsonl")).toString(), lines.join(""));
      assert.equal((await read("artifacts/all")).toString(), lines.join(""));
      assert.deepEqual([...(await read("artifacts/bytes"))], [0, 254]);
      assert.equal((await fixture.store.checkSeal(job, "alpha__00000001")).state, "intact");
      await job.close();
    },
  },
  {
    promise: "says so when a file of an earlier attempt is not there",
    check: async (fixture) => {
      const job = await open(fixture, {});
      const attempt = await job.openAttempt("alpha__00000001");
      const missing = collect(attempt.readFrom("alpha__00000001", "evidence/none"));
      await assert.rejects(missing, isBenchError("unavailable"));
      await job.close();
    },
  },
  {
    promise: "refuses every path that leaves an attempt's folder, to write, append, make or read",
    check: async (fixture) => {
      const job = await open(fixture, {});
      const attempt = await job.openAttempt("alpha__00000001");
      for (const path of hostilePaths) {
        await assert.rejects(attempt.write(path, "x"), isBenchError("config"), path);
        await assert.rejects(
          attempt.writeStream(path, chunks(["x"])),
          isBenchError("config"),
          path,
        );
        await assert.rejects(attempt.append(path), isBenchError("config"), path);
        await assert.rejects(attempt.mkdir(path), isBenchError("config"), path);
        const read = collect(attempt.readFrom("alpha__00000001", path));
        await assert.rejects(read, isBenchError("config"), path);
        await assert.rejects(job.openAttempt(path), isBenchError("config"), path);
        await assert.rejects(job.write(path, "x"), isBenchError("config"), path);
      }
      await job.close();
    },
  },
];

function summarize({ rolloutName, result, seal, problem, hasEvidence }: StoredAttempt) {
  return { rolloutName, result, seal, problem, hasEvidence };
}

function sealedSummary(rolloutName: string) {
  const result = `{"rollout_name": "${rolloutName}"}`;
  return { rolloutName, result, seal: "intact", problem: null, hasEvidence: true };
}
