import { showSafely } from "../../core/report/console/safe-text.ts";
import type { TaskCheck } from "../../core/tasks/check-task.ts";

/** What a control run says about one task. */
export interface ControlFinding {
  readonly taskName: string;
  readonly kind: "issue" | "warning";
  readonly text: string;
}

/** The lines of `bench tasks check` (spec-0.7.12 section 6); warnings are ours, below each task. */
export function renderTaskChecks(checks: readonly TaskCheck[], level: string): string {
  const lines = checks.flatMap(({ name, issues, warnings }) => [
    issues.length === 0 ? `✓ ${name} — valid (${level})` : `✗ ${name} — ${issues.length} issue(s):`,
    ...issues.map((text) => `  → ${text}`),
    ...warnings.map((text) => `  ! ${text}`),
  ]);
  return `${lines.map(showSafely).join("\n")}\n`;
}
