import { verifyTree } from "../../api/verify-tree.ts";
import type { VerificationReport } from "../../core/model/verification-report.ts";
import { showSafely } from "../../core/report/console/safe-text.ts";
import type { CliContext, ExitCode } from "../context.ts";

const MAX_LINES = 20;

/** `bench verify DIR|card`: 0 when everything agrees; 1 with the first difference named, or with nothing checked. */
export async function runVerify(
  context: CliContext,
  path: string,
  json: boolean,
): Promise<ExitCode> {
  const report = await verifyTree(path);
  context.out.write(json ? `${JSON.stringify(report, null, 2)}\n` : renderVerification(report));
  if (!json) for (const note of showSome(report.notes)) context.err.write(`note: ${note}\n`);
  return report.consistent === true ? 0 : 1;
}

function renderVerification(report: VerificationReport): string {
  const { checked, differences, root_sha256: root } = report;
  if (report.consistent === null) {
    return "Nothing could be checked: there is no seal and no run card.\n";
  }
  const amount =
    `${checked.jobs} job(s), ${checked.attempts} attempt(s), ${checked.sealed_files} sealed file(s), ` +
    `${checked.cards} card(s)`;
  const [first, ...others] = differences.map(
    ({ file, what }) => `${showSafely(file)}: ${showSafely(what)}`,
  );
  if (first === undefined) {
    const seals = root === null ? "" : `, root sha256:${root}`;
    return `Consistent: ${amount}${seals}.\nConsistent is not authentic: whoever wrote these files can have written all of them.\n`;
  }
  return [`First difference: ${first}`, ...showSome(others), `Not consistent: ${amount}.`, ""].join(
    "\n",
  );
}

function showSome(lines: readonly string[]): string[] {
  const shown = lines.slice(0, MAX_LINES).map(showSafely);
  return lines.length > MAX_LINES ? [...shown, `and ${lines.length - MAX_LINES} more`] : shown;
}
