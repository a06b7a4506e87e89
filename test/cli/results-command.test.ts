import { join } from "node:path";
import { expect, test } from "vitest";
import { evaluationFile } from "../../core/plan/evaluation-file.ts";
import { planRun } from "../../core/plan/plan-run.ts";
import { FileJobStore } from "../../stores/files/file-job-store.ts";
import { aRequest, aTask, someSettings } from "../core/plan/plan-builders.ts";
import { resultText } from "../stores/files/result-text.ts";
import { tempFolder } from "../stores/task-folders/temp-tasks.ts";
import { bench } from "./run-bench.ts";

/** A job of three tasks that runs now: its lease is held. */
async function runningJob() {
  const jobsDir = join(await tempFolder(), "jobs");
  const settings = someSettings({ jobsDir });
  const tasks = ["alpha", "beta", "gamma"].map((name) => aTask(name));
  const plan = planRun(aRequest({ settings, tasks }));
  const [job] = plan.jobs;
  if (job === undefined) throw new Error("a plan without a job");
  const evaluation = evaluationFile(plan, job, new Date());
  const store = new FileJobStore(jobsDir);
  const folder = await store.openJob({ ...job, mode: "new", evaluation });
  return { jobsDir, folder };
}

test("results of a run that has just begun are its agent and no score yet", async () => {
  const { jobsDir, folder } = await runningJob();
  const { out, err, code } = await bench(jobsDir, "results", jobsDir);
  expect(out).toMatch(/^2026-11-05__09-00-00 +oracle +- +oracle +0\/0 \(-\) +- +3 /mu);
  expect([err, code]).toEqual(["", 0]);
  await folder.close();
});

test("results of a run that is going on show what ended, and say what has not", async () => {
  const { jobsDir, folder } = await runningJob();
  await (await folder.openAttempt("alpha__00000001")).seal(resultText("alpha"));
  const running = await folder.openAttempt("beta__00000002");
  await running.write("agent/oracle.txt", "half of it");
  const { out, err, code } = await bench(jobsDir, "results", jobsDir);
  expect(out).toMatch(/^2026-11-05__09-00-00 +oracle +- +oracle +1\/1 \(100\.0%\) +1\.00 +2 /mu);
  expect(err).toBe(
    `${jobsDir}/2026-11-05__09-00-00/beta__00000002 has no result: it was interrupted, or still runs\n`,
  );
  expect(code).toBe(0);
  const json = JSON.parse((await bench(jobsDir, "results", jobsDir, "--json")).out) as {
    interrupted: { task_name: string }[];
    jobs: { planned: number; never_started: number }[];
  };
  expect(json.interrupted.map((attempt) => attempt.task_name)).toEqual(["beta"]);
  expect(json.jobs[0]).toMatchObject({ planned: 3, passed: 1, never_started: 2 });
  // An attempt that a resume put in its place has a score: nothing is missed any more.
  await (await folder.openAttempt("beta__00000003")).seal(resultText("beta"));
  expect((await bench(jobsDir, "results", jobsDir)).err).toBe("");
  // Reading took nothing away from the run.
  await running.seal(resultText("beta"));
  await folder.close();
});
