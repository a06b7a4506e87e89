import { randomBytes } from "node:crypto";
import { FileJobStore } from "../../../stores/files/file-job-store.ts";
import { rolloutNameOf } from "../../../core/plan/rollout-name.ts";
import { EVALUATION, JOB_NAME, resultText } from "./result-text.ts";
import { planFrom } from "./plan-from.ts";

/** Runs what is left of a job, as `bench run` would: it is there to be killed at any moment. */
const [jobsDir = "", tasks = ""] = process.argv.slice(2);
const store = new FileJobStore(jobsDir);
const plan = await planFrom(store, jobsDir, tasks.split(","));
const [jobPlan] = plan.jobs;
const job = await store.openJob({
  jobsDir,
  jobName: jobPlan?.resumed === true ? jobPlan.jobName : JOB_NAME,
  mode: jobPlan?.resumed === true ? "resume" : "new-automatic",
  evaluation: EVALUATION,
});
process.stdout.write("started\n");

async function* work(): AsyncGenerator<Uint8Array> {
  for (let chunk = 0; chunk < 20; chunk += 1) yield randomBytes(10_000);
}

for (const trial of jobPlan?.trials ?? []) {
  if (trial.action === "keep") continue;
  const attempt = await job.openAttempt(
    rolloutNameOf(trial.taskName, randomBytes(4).toString("hex")),
  );
  const live = await attempt.append("trajectory/acp_trajectory.jsonl");
  for (let line = 0; line < 10; line += 1) await live.append(Buffer.from(`{"line": ${line}}\n`));
  await attempt.writeStream("evidence/workspace.tar", work());
  await attempt.write("verifier/reward.txt", "1\n");
  await attempt.seal(resultText(trial.taskName, { attempt: trial.attempt }));
  await job.write("summary.json", JSON.stringify({ last: trial.taskName }));
}
await job.close();
