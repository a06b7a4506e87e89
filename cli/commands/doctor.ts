import { resolve } from "node:path";
import { type Finding, diagnose } from "../../api/diagnose.ts";
import { stateDir } from "../../api/open-run-deps.ts";
import { showSafely } from "../../core/report/console/safe-text.ts";
import type { CliContext, ExitCode } from "../context.ts";

/** `bench doctor`: one line a finding, with the next step under what does not work. */
export async function runDoctor(context: CliContext, json: boolean): Promise<ExitCode> {
  const findings = await diagnose({
    env: context.env,
    stateDir: resolve(context.cwd, stateDir(context.env)),
  });
  context.out.write(
    json ? `${JSON.stringify(findings, null, 2)}\n` : findings.map(renderFinding).join(""),
  );
  const works = findings.some(({ backend, works: holds }) => backend && holds);
  return works ? 0 : 1;
}

function renderFinding({ name, works, detail, next }: Finding): string {
  const line = `${works ? "✓" : "✗"} ${name}${detail === "" ? "" : `: ${showSafely(detail)}`}\n`;
  return works || next === null ? line : `${line}  next: ${next}\n`;
}
