import { BenchError } from "../errors.ts";
import type { Forecast, JobPlan, RunPlan } from "../model/plan.ts";
import { ControlAgent } from "../model/settings.ts";
import type { RunSettings } from "../model/settings.ts";
import type { SkippedTask, Task } from "../model/task.ts";
import type { SandboxCaps } from "../ports/sandbox.ts";
import { chooseJob } from "./choose-job.ts";
import { compareNames } from "./compare-names.ts";
import { groupBy } from "./group-by.ts";
import type { EarlierJob } from "./earlier-job.ts";
import { checkJobName } from "./job-name.ts";
import { planJob } from "./plan-job.ts";
import { repeatDirs } from "./repeat-dirs.ts";
import type { ScoreSettings } from "./settings-digest.ts";
import { shuffleNames } from "./shuffle-names.ts";
import {
  closedNetworkWarnings,
  controlsOnlyWarnings,
  missingLimits,
  processorWarnings,
  taskRefusals,
} from "./task-refusals.ts";
import type { RefusalFacts } from "./task-refusals.ts";

export interface PlanRequest {
  readonly settings: RunSettings;
  /** Of `scoreSettings` and `digestSettings`. */
  readonly score: ScoreSettings;
  readonly settingsDigest: string;
  /** The selected tasks, in any order. */
  readonly tasks: readonly Task[];
  readonly skipped: readonly SkippedTask[];
  /** The jobs found in the jobs folders of `repeatDirs`, in any order. */
  readonly earlier: readonly EarlierJob[];
  /** Null when the backend was not asked. */
  readonly caps: SandboxCaps | null;
  /** Name for a job that starts now without `--job-name`: `automaticJobName(now)`. */
  readonly newJobName: string;
}

/**
 * Decides everything a run will do, and does nothing (design 4): which job each repeat goes on with,
 * and for each trial whether its score is kept, its work verified again, or an attempt made, and why.
 * Resuming is planning again. Pure, and the same for any order of its input.
 *
 * Repeats are the outer loop, so that whatever stops a run leaves every task with nearly as many
 * tries: what is scored when money ends would otherwise be no random sample (statistics D8).
 *
 * Throws `BenchError` `usage` or `config` for what must stop a run before anything is created.
 */
export function planRun(request: PlanRequest): RunPlan {
  const { settings, settingsDigest } = request;
  if (settings.jobName !== null) checkJobName(settings.jobName);
  const refusalFacts = refusalFactsOf(settings, request.caps);
  const { tasks, skipped } = splitTasks(request, refusalFacts);
  const earlierByDir = groupBy(request.earlier, ({ jobsDir }) => jobsDir);
  const warnings = new Set([
    ...tasks.flatMap(({ name, warnings: own }) => own.map((warning) => `${name}: ${warning}`)),
    ...missingLimits(refusalFacts),
    ...closedNetworkWarnings(tasks, refusalFacts),
    ...controlsOnlyWarnings(tasks, refusalFacts),
    ...processorWarnings(tasks, refusalFacts),
  ]);
  const jobs = repeatDirs(settings).map(({ repeat, jobsDir }) => {
    const earlierJobs = earlierByDir.get(jobsDir) ?? [];
    const choice = chooseJob({ ...request, jobs: earlierJobs });
    const earlier = choice.kind === "resume" ? choice.job : null;
    const jobName = choice.kind === "resume" ? choice.job.jobName : choice.jobName;
    const planned = planJob({ repeat, jobsDir, jobName, settingsDigest, tasks, earlier });
    for (const warning of [...choice.warnings, ...planned.warnings]) warnings.add(warning);
    return planned.job;
  });
  return {
    settings,
    settingsDigest,
    scoreSettings: { ...request.score },
    tasks,
    skipped,
    jobs,
    forecast: forecastOf(jobs),
    warnings: [...warnings],
  };
}

/** How many trials stand in each state, over all repeats. They add up to `planned`. */
export function forecastOf(jobs: readonly JobPlan[]): Forecast {
  const trials = jobs.flatMap((job) => job.trials);
  const count = (action: string): number =>
    trials.filter((trial) => trial.action === action).length;
  return {
    planned: trials.length,
    kept: count("keep"),
    verifyOnly: count("verify-only"),
    toRun: count("run"),
    blocked: count("blocked"),
  };
}

/** What decides whether a task can run under these settings on a backend of these capabilities. */
export function refusalFactsOf(settings: RunSettings, caps: SandboxCaps | null): RefusalFacts {
  const isHostile = settings.agent === "script" || !ControlAgent.safeParse(settings.agent).success;
  const { agent, environment, withoutInternet } = settings;
  const runsSolution = agent === "oracle";
  const { skillMode, skillsDir } = settings;
  const skills = { skillMode, skillsDir };
  return { environment, caps, agentIsHostile: isHostile, runsSolution, withoutInternet, skills };
}

interface SplitTasks {
  readonly tasks: Task[];
  readonly skipped: SkippedTask[];
}

function splitTasks(request: PlanRequest, facts: RefusalFacts): SplitTasks {
  const tasks: Task[] = [];
  const skipped = [...request.skipped];
  for (const task of request.tasks) {
    const refusals = taskRefusals(task, facts);
    if (refusals.length === 0) tasks.push(task);
    else skipped.push({ name: task.name, reason: refusals.join("; ") });
  }
  skipped.sort((a, b) => compareNames(a.name, b.name) || compareNames(a.reason, b.reason));
  refuseIfStopped(request.settings, tasks, skipped);
  return { tasks: inStartOrder(tasks, request.settings.shuffleSeed), skipped };
}

function refuseIfStopped(
  settings: RunSettings,
  tasks: readonly Task[],
  skipped: readonly SkippedTask[],
): void {
  const [first] = skipped;
  if (first === undefined) {
    if (tasks.length > 0) return;
    throw new BenchError("config", `no tasks selected in ${settings.tasksDir}`, {
      next: `\`bench tasks list ${settings.tasksDir}\` shows what is there`,
    });
  }
  if (tasks.length > 0 && !settings.strictTasks) return;
  const more = skipped.length === 1 ? "" : ` (and ${skipped.length - 1} more)`;
  const rule = tasks.length === 0 ? "no task can run" : "--strict-tasks, and a task cannot run";
  throw new BenchError("config", `${rule}: ${first.name}: ${first.reason}${more}`, {
    next: skipped.every(({ reason }) => lacksInternetAlone(reason))
      ? "add `--without-internet` to run without it, or use `--env docker`"
      : `\`bench tasks check ${settings.tasksDir}\` lists what is wrong`,
  });
}

/** Whether the user's word is all that such a task waits for: its folder has nothing to mend. */
function lacksInternetAlone(reason: string): boolean {
  return reason.endsWith("(--without-internet runs it without)") && !reason.includes("; ");
}

function inStartOrder(tasks: readonly Task[], shuffleSeed: number | null): Task[] {
  const byName = new Map(tasks.map((task) => [task.name, task]));
  if (byName.size !== tasks.length) {
    const twice = tasks.find((task) => byName.get(task.name) !== task);
    throw new BenchError("config", `two tasks are named ${JSON.stringify(twice?.name)}`, {
      next: "rename one folder: a task's name identifies its results",
    });
  }
  const names = [...byName.keys()];
  const ordered =
    shuffleSeed === null ? names.toSorted(compareNames) : shuffleNames(names, shuffleSeed);
  return ordered.flatMap((name) => byName.get(name) ?? []);
}
