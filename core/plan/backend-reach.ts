import type { Task } from "../model/task.ts";
import { groupBy } from "./group-by.ts";
import { type RefusalFacts, taskRefusals } from "./task-refusals.ts";

/** How much of a selection one backend can run, and why not all of it (attack 25). */
export interface BackendReach {
  readonly environment: string;
  /** Why the backend itself cannot be had here; null when it can. Then only the tasks' own counts. */
  readonly missing: string | null;
  readonly canRun: number;
  readonly tasks: number;
  /** Each reason with the tasks that it keeps from running, in their order. */
  readonly reasons: readonly { readonly reason: string; readonly tasks: readonly string[] }[];
}

export function backendReach(
  tasks: readonly Task[],
  { missing, ...facts }: RefusalFacts & { readonly missing: string | null },
): BackendReach {
  const refused = tasks.flatMap((task) =>
    taskRefusals(task, facts).map((reason) => ({ reason, name: task.name })),
  );
  const reasons = groupBy(refused, ({ reason }) => reason);
  return {
    environment: facts.environment,
    missing,
    canRun: tasks.length - new Set(refused.map(({ name }) => name)).size,
    tasks: tasks.length,
    reasons: [...reasons].map(([reason, of]) => ({
      // The line that it stands in names the backend already.
      reason: reason.replace(`--env ${facts.environment} `, ""),
      tasks: of.map(({ name }) => name),
    })),
  };
}
