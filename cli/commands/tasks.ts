import { mkdtemp, readdir, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import type { SkippedTask } from "../../core/model/task.ts";
import { compareNames } from "../../core/plan/compare-names.ts";
import { showSafely } from "../../core/report/console/safe-text.ts";
import type { TaskCheck } from "../../core/tasks/check-task.ts";
import { initTask } from "../../core/tasks/init-task.ts";
import { checkTasks as checkTaskFolders } from "../../stores/task-folders/check-tasks.ts";
import { readTasks } from "../../stores/task-folders/read-tasks.ts";
import { writeTask } from "../../stores/task-folders/write-task.ts";
import type { CliContext, ExitCode } from "../context.ts";
import type { ControlFinding } from "../render/task-checks.ts";
import { renderTaskChecks } from "../render/task-checks.ts";
import { notRun, renderTaskList } from "../render/task-list.ts";
import { quoteWord } from "../same-command.ts";
import { runControls } from "./run-controls.ts";

/** `bench tasks list PATH`: every task that a run would find, and what could not be read. */
export async function listTasks(
  context: CliContext,
  path: string,
  json: boolean,
): Promise<ExitCode> {
  const found = await readTasks(resolve(context.cwd, path));
  const tasks = found.tasks.map((task) => ({ ...task, notRun: notRun(task) }));
  const document = JSON.stringify({ tasks, skipped: found.skipped }, null, 2);
  context.out.write(json ? `${document}\n` : renderTaskList(found.tasks));
  showSkipped(context, found.skipped);
  return found.skipped.length > 0 ? 1 : 0;
}

/** `bench tasks digest PATH`: `<name> <digest>` a line. */
export async function digestTasks(context: CliContext, path: string): Promise<ExitCode> {
  const { tasks, skipped } = await readTasks(resolve(context.cwd, path), { gitPath: null });
  for (const { name, digest } of tasks) context.out.write(`${name} ${digest}\n`);
  showSkipped(context, skipped);
  return skipped.length > 0 ? 1 : 0;
}

function showSkipped(context: CliContext, skipped: readonly SkippedTask[]): void {
  for (const { name, reason } of skipped) {
    context.err.write(`${showSafely(`skipped ${name}: ${reason}`)}\n`);
  }
}

export interface CheckOptions {
  readonly controls?: boolean;
  readonly env: string;
}

/** `bench tasks check PATH`: static checks, and with `--controls` the oracle and nop on each task. */
export async function checkTasks(
  context: CliContext,
  path: string,
  options: CheckOptions,
): Promise<ExitCode> {
  const dir = resolve(context.cwd, path);
  const checks = await checkTaskFolders(dir);
  const runnable = checks.filter((check) => check.issues.length === 0);
  const findings: ControlFinding[] = [];
  if (options.controls === true && runnable.length > 0) {
    const jobsDir = await mkdtemp(join(tmpdir(), "bench-controls-"));
    const names = runnable.map((check) => check.name);
    try {
      const run = { dir, names, environment: options.env, jobsDir };
      findings.push(...(await runControls(context, run)));
    } catch (error) {
      // Refused before anything ran: there is nothing in it to look at.
      if ((await readdir(jobsDir)).length === 0) await rmdir(jobsDir);
      throw error;
    }
    if (findings.some((finding) => finding.kind === "issue")) {
      context.err.write(`the controls' results are in ${jobsDir}\n`);
    } else await rm(jobsDir, { recursive: true, force: true });
  }
  const whole = withFindings(checks, findings);
  const level = options.controls === true ? "structural, controls" : "structural";
  context.out.write(renderTaskChecks(whole, level));
  return whole.some((check) => check.issues.length > 0) ? 1 : 0;
}

function withFindings(
  checks: readonly TaskCheck[],
  findings: readonly ControlFinding[],
): readonly TaskCheck[] {
  const whole = checks.map(({ name, issues, warnings }) => {
    const own = findings.filter((finding) => finding.taskName === name);
    const texts = (kind: string) =>
      own.filter((each) => each.kind === kind).map(({ text }) => text);
    return {
      name,
      issues: [...issues, ...texts("issue")],
      warnings: [...warnings, ...texts("warning")],
    };
  });
  return whole.toSorted((a, b) => compareNames(a.name, b.name));
}

/** `bench tasks init PATH`: a minimal task that passes its controls. */
export async function initTasks(
  context: CliContext,
  path: string,
  native: boolean,
): Promise<ExitCode> {
  const dir = resolve(context.cwd, path);
  const files = initTask(basename(dir), native ? "native" : "harbor");
  await writeTask(dir, files);
  for (const file of files) context.out.write(`${join(path, file.path)}\n`);
  context.err.write(
    `next: \`bench tasks check --controls ${quoteWord(path)}\` runs its oracle and nop\n`,
  );
  return 0;
}
