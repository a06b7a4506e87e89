import { resolve } from "node:path";
import { type Finding, diagnose } from "../../api/diagnose.ts";
import { showSafely } from "../../core/report/console/safe-text.ts";
import type { CliContext, ExitCode } from "../context.ts";

/**
 * `bench doctor [TASKS]`: one line a finding, with the next step under what does not work; with a task
 * folder also how many of its tasks each backend can run.
 */
export async function runDoctor(
  context: CliContext,
  tasks: string | undefined,
  json: boolean,
): Promise<ExitCode> {
  const tasksDir = tasks === undefined ? null : resolve(context.cwd, tasks);
  const findings = await diagnose({ env: context.env, tasksDir });
  context.out.write(
    json ? `${JSON.stringify(findings, null, 2)}\n` : findings.map(renderFinding).join(""),
  );
  const works = findings.some(({ backend, works: holds }) => backend && holds);
  return works ? 0 : 1;
}

function renderFinding({ name, works, detail, next }: Finding): string {
  const line = `${works ? "✓" : "✗"} ${showSafely(name)}${detail === "" ? "" : `: ${showSafely(detail)}`}\n`;
  return works || next === null ? line : `${line}  next: ${next}\n`;
}
