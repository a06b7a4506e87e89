import { mkdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readEarlierJob } from "../../../core/plan/read-earlier-jobs.ts";
import { FileJobStore } from "../../../stores/files/file-job-store.ts";
import { startedBy } from "../../core/plan/plan-builders.ts";
import { planFrom } from "./plan-from.ts";
import { EVALUATION, JOB_NAME, resultText } from "./result-text.ts";
import { openNew, sealedAttempt, temporaryFolder } from "./store-builders.ts";

/** A job with alpha and beta scored; what it does to alpha's result.json is the test's. */
async function twoScored(): Promise<{ store: FileJobStore; jobsDir: string; result: string }> {
  const jobsDir = join(temporaryFolder(), "jobs");
  const store = new FileJobStore(jobsDir);
  const job = await openNew(store, jobsDir);
  const name = await sealedAttempt(job, "alpha");
  await sealedAttempt(job, "beta");
  await job.close();
  return { store, jobsDir, result: join(jobsDir, JOB_NAME, name, "result.json") };
}

describe("a result that is torn at any byte (C-1)", () => {
  test("is set aside with its reason, and no other trial suffers", async () => {
    const { store, jobsDir, result } = await twoScored();
    const whole = await readFile(result, "utf8");
    for (let size = Buffer.byteLength(whole) - 2; size >= 0; size -= 1) {
      await truncate(result, size);
      const plan = await planFrom(store, jobsDir, ["alpha", "beta"]);
      expect([size, startedBy(plan)]).toEqual([size, ["1/alpha"]]);
      expect(plan.warnings).toEqual([
        expect.stringMatching(/^alpha__00000001 is set aside: result.json/u),
      ]);
    }
  });

  test("that still reads as a score, but is not what was sealed, blocks its trial", async () => {
    const { store, jobsDir, result } = await twoScored();
    const whole = await readFile(result, "utf8");
    await writeFile(result, whole.trimEnd());
    const [alpha, beta] = (await planFrom(store, jobsDir, ["alpha", "beta"])).jobs[0]?.trials ?? [];
    expect(alpha).toMatchObject({
      action: "blocked",
      why: "alpha__00000001 holds a score, but result.json is not what seal.json says it was",
    });
    expect(beta?.action).toBe("keep");
  });

  test("is never sealed afterwards as if it were whole", async () => {
    const { store, jobsDir, result } = await twoScored();
    await rm(join(result, "../seal.json"));
    await truncate(result, 40);
    const request = { jobsDir, jobName: JOB_NAME, mode: "resume", evaluation: EVALUATION } as const;
    await (await store.openJob(request)).close();
    const ref = { jobsDir, jobName: JOB_NAME };
    expect((await store.checkSeal(ref, "alpha__00000001")).state).toBe("absent");
  });
});

const scoredWith = (rewards: unknown): string =>
  JSON.stringify({ ...JSON.parse(resultText("alpha")), rewards });

describe("a malformed result (C-9)", () => {
  const shapes: Record<string, string | Uint8Array> = {
    "rewards is a list": scoredWith([1]),
    "rewards is true": scoredWith(true),
    "rewards is null": scoredWith(null),
    "rewards is text": scoredWith("1.0"),
    "the reward is text": scoredWith({ reward: "1" }),
    "the reward is not the outcome's": scoredWith({ reward: 0 }),
    "the file is a list": "[]",
    "the file is null": "null",
    "the file is empty": "",
    "the file is not UTF-8": Uint8Array.of(0x7b, 0xff, 0x7d),
    "the file nests too deeply": `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`,
    "no task is named": JSON.stringify({
      ...JSON.parse(resultText("alpha")),
      task_name: undefined,
    }),
    "the attempt is no number": JSON.stringify({
      ...JSON.parse(resultText("alpha")),
      attempt: "first",
    }),
  };

  test.each(Object.entries(shapes))("where %s hides no valid one", async (_, bytes) => {
    const { store, jobsDir, result } = await twoScored();
    await rm(join(result, "../seal.json"));
    await writeFile(result, bytes);
    const plan = await planFrom(store, jobsDir, ["alpha", "beta"]);
    expect(plan.forecast).toMatchObject({ planned: 2, kept: 1, toRun: 1 });
    expect(plan.warnings).toHaveLength(1);
    expect(plan.warnings[0]).toContain("alpha__00000001 is set aside: result.json");
  });

  test("is listed beside the good ones of its job", async () => {
    const { store, jobsDir, result } = await twoScored();
    await writeFile(result, "{");
    const job = await readEarlierJob(store, { jobsDir, jobName: JOB_NAME });
    expect(job.attempts?.map(({ kind, rolloutName }) => [kind, rolloutName])).toEqual([
      ["quarantined", "alpha__00000001"],
      ["ended", "beta__00000001"],
    ]);
  });
});

describe("an evaluation.json that cannot be read", () => {
  test.each(["", "{", "[]", '{"tasks_dir": 1}', "null", "[".repeat(100_000)])(
    "%# is reported, and the job resumed from its results",
    async (text) => {
      const { store, jobsDir } = await twoScored();
      await writeFile(join(jobsDir, JOB_NAME, "evaluation.json"), text);
      const plan = await planFrom(store, jobsDir, ["alpha", "beta"]);
      expect(plan.jobs[0]?.resumed).toBe(true);
      expect(startedBy(plan)).toEqual([]);
      expect(plan.warnings[0]).toMatch(/^evaluation.json of job .* (is|nests)/u);
    },
  );

  test("because it is a folder is reported too", async () => {
    const { store, jobsDir } = await twoScored();
    await rm(join(jobsDir, JOB_NAME, "evaluation.json"));
    await mkdir(join(jobsDir, JOB_NAME, "evaluation.json"));
    const plan = await planFrom(store, jobsDir, ["alpha", "beta"]);
    expect(plan.warnings[0]).toContain("is not a plain file");
  });
});
