import { join } from "node:path";
import type { EndedRun } from "../../api/run-benchmark.ts";
import { writeJobFiles } from "../../api/write-job-files.ts";
import { writeMatrixSummary } from "../../api/write-matrix-summary.ts";
import { writeReports } from "../../api/write-reports.ts";
import type { TrialRecord } from "../../core/model/record.ts";
import { evaluationFile } from "../../core/plan/evaluation-file.ts";
import { planRun } from "../../core/plan/plan-run.ts";
import { renderSideFiles } from "../../core/results/render-side-files.ts";
import { renderTrialResult, trackNoUsage } from "../../core/results/render-trial-result.ts";
import { FileJobStore } from "../../stores/files/file-job-store.ts";
import { aRecord, aRequest, aTask, scored, someSettings } from "../core/plan/plan-builders.ts";
import { tempFolder } from "../stores/task-folders/temp-tasks.ts";

export interface ReportTree {
  /** The jobs folder of a whole run. */
  readonly root: string;
  /** Its jobs, in order of their repeats. */
  readonly jobDirs: readonly string[];
}

const TASKS = ["alpha", "beta", "gamma"];

function resultOf(record: TrialRecord): string {
  return renderTrialResult(record, {
    trajectorySummary: null,
    usageTracking: trackNoUsage("local"),
    sandboxId: null,
    utcOffsetMinutes: 0,
  });
}

/**
 * A run of three tasks, twice, as `bench run` leaves it: sealed attempts, every job's own files, and
 * the reports. Gamma fails; `over` says what differs in a record.
 */
export async function aReportTree(
  over: (taskName: string, repeat: number) => Partial<TrialRecord> = () => ({}),
): Promise<ReportTree> {
  const root = join(await tempFolder(), "jobs");
  const settings = someSettings({ jobsDir: root, trials: 2 });
  const tasks = TASKS.map((name) => aTask(name));
  const plan = planRun(aRequest({ settings, tasks }));
  const store = new FileJobStore(root);
  const jobs: EndedRun["jobs"][number][] = [];
  for (const job of plan.jobs) {
    const evaluation = evaluationFile(plan, job, new Date("2026-11-04T18:00:00Z"));
    const folder = await store.openJob({ ...job, mode: "new", evaluation });
    for (const taskName of TASKS) {
      const record = aRecord(taskName, {
        rolloutName: `${taskName}__0000000${String(job.repeat)}`,
        outcome: scored(taskName === "gamma" ? 0 : 1),
        rewards: { reward: taskName === "gamma" ? 0 : 1 },
        ...over(taskName, job.repeat),
      });
      const attempt = await folder.openAttempt(record.rolloutName);
      const trial = {
        record,
        instruction: "do it",
        prompts: [],
        events: [],
        rolloutDir: join(folder.dir, record.rolloutName),
        utcOffsetMinutes: 0,
      };
      for (const [path, text] of renderSideFiles(trial)) await attempt.write(path, text);
      await attempt.write(
        "config.json",
        `${JSON.stringify({ timeout_sec: 900, tool: "benchflow-cloud 0.1.0" })}\n`,
      );
      await attempt.write("verifier/reward.txt", taskName === "gamma" ? "0\n" : "1\n");
      await attempt.seal(resultOf(record));
    }
    const tree = await writeJobFiles(plan, job, {
      folder,
      store,
      spend: null,
      notStarted: new Set(),
    });
    await folder.close();
    jobs.push({ job, jobDir: folder.dir, tree, reused: 0, ran: 3, elapsedSec: 1 });
  }
  await writeMatrixSummary(plan, jobs, { store });
  await writeReports({ plan, jobs });
  return { root, jobDirs: jobs.map(({ jobDir }) => jobDir) };
}
