import type { RunPlan } from "../core/model/plan.ts";
import type { RunSettings } from "../core/model/settings.ts";
import type { Task } from "../core/model/task.ts";
import { automaticJobName } from "../core/plan/job-name.ts";
import { planRun } from "../core/plan/plan-run.ts";
import { readEarlierJobs } from "../core/plan/read-earlier-jobs.ts";
import { CONTROL_FACTS, digestSettings, scoreSettings } from "../core/plan/settings-digest.ts";
import { expandTaskEnv } from "../core/tasks/expand-task-env.ts";
import { selectTasks } from "../core/tasks/select-tasks.ts";
import { readTasks } from "../stores/task-folders/read-tasks.ts";
import type { RunDeps } from "./run-deps.ts";

/**
 * Reads what there is and decides what a run of these settings will do; creates nothing. Throws
 * `BenchError` (`usage`, `config`) for whatever must stop a run before it starts.
 */
export async function planBenchmark(settings: RunSettings, deps: RunDeps): Promise<RunPlan> {
  const selected = selectTasks(await readTasks(settings.tasksDir), settings);
  const { tasks, warnings } = fillTemplates(selected.tasks, settings, deps);
  const score = scoreSettings(settings, CONTROL_FACTS);
  const settingsDigest = digestSettings(score, deps.sha256);
  const plan = planRun({
    settings,
    score,
    settingsDigest,
    tasks,
    skipped: selected.skipped,
    earlier: await readEarlierJobs(deps.store, { settings, settingsDigest }),
    caps: deps.backend.caps,
    newJobName: automaticJobName(deps.clock.now()),
  });
  return { ...plan, warnings: [...plan.warnings, ...warnings] };
}

/** Host variables that `--pass-env` names go into the tasks; a task that asks for others is refused. */
function fillTemplates(
  tasks: readonly Task[],
  settings: RunSettings,
  { hostEnv }: RunDeps,
): { tasks: Task[]; warnings: string[] } {
  const expanded = tasks.map((task) => expandTaskEnv(task, hostEnv, settings.passEnv));
  return {
    tasks: expanded.map(({ task, refusals }) => ({
      ...task,
      refusals: [...task.refusals, ...refusals],
    })),
    warnings: expanded.flatMap(({ task, warnings }) =>
      warnings.map((warning) => `${task.name}: ${warning}`),
    ),
  };
}
