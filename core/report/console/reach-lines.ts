import type { BackendReach } from "../../plan/backend-reach.ts";
import { listNames, showSafely } from "./safe-text.ts";

const MAX_NAMES = 5;

/**
 * One line a backend: how many tasks it can run and why not the others. A backend that cannot be had
 * here could run what nothing in the tasks themselves forbids; what it lacks is then not known.
 */
export function renderReach(reaches: readonly BackendReach[]): string[] {
  return reaches.map((reach) => `--env ${reach.environment}: ${describeReach(reach)}`);
}

/** The same without the backend's name. */
export function describeReach({ missing, canRun, tasks, reasons }: BackendReach): string {
  const share = `${canRun} of ${tasks} tasks`;
  const why = reasons.map(
    ({ reason, tasks: names }) => `${showSafely(reason)}: ${listNames(names, MAX_NAMES)}`,
  );
  const rest = why.length === 0 ? "" : `; ${tasks - canRun} cannot: ${why.join("; ")}`;
  if (missing === null) return `${share} can run${rest}`;
  return `not here (${showSafely(missing)}); there, as far as the tasks say, ${share} could run${rest}`;
}
