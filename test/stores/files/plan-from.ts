import type { RunPlan } from "../../../core/model/plan.ts";
import type { RunSettings } from "../../../core/model/settings.ts";
import { planRun } from "../../../core/plan/plan-run.ts";
import { readEarlierJobs } from "../../../core/plan/read-earlier-jobs.ts";
import type { JobStore } from "../../../core/ports/job-store.ts";
import { aRequest, aTask, digestOfSettings, someSettings } from "../../core/plan/plan-builders.ts";

/** The plan of the same command for these tasks, from what the store holds. */
export async function planFrom(
  store: JobStore,
  jobsDir: string,
  taskNames: readonly string[],
  settings: RunSettings = someSettings({ jobsDir }),
): Promise<RunPlan> {
  const tasks = taskNames.map((name) => aTask(name));
  const question = { settings, settingsDigest: digestOfSettings(settings) };
  const earlier = await readEarlierJobs(store, question);
  return planRun(aRequest({ settings, tasks, earlier }));
}
