import type { PlannedTrial, RunPlan } from "../model/plan.ts";

/** One line of `--explain` and of the `--dry-run` table. */
export interface ExplainedTrial {
  /** Null for a task that no repeat can run. */
  readonly repeat: number | null;
  readonly task: string;
  readonly action: PlannedTrial["action"] | "skipped";
  /** Number of the attempt that would start; null where none would. */
  readonly attempt: number | null;
  readonly why: string;
}

/** The plan's trials in the order in which they start, then what was skipped, each with its reason. */
export function explainPlan(plan: RunPlan): ExplainedTrial[] {
  const trials = plan.jobs.flatMap((job) =>
    job.trials.map(({ taskName, action, attempt, why }): ExplainedTrial => ({
      repeat: job.repeat,
      task: taskName,
      action,
      attempt: action === "run" || action === "verify-only" ? attempt : null,
      why,
    })),
  );
  const skipped = plan.skipped.map(({ name, reason }): ExplainedTrial => ({
    repeat: null,
    task: name,
    action: "skipped",
    attempt: null,
    why: reason,
  }));
  return [...trials, ...skipped];
}

/** `9 trials: 3 kept, 1 to verify again, 5 to run`, with `N blocked` when there are any. */
export function forecastLine({ forecast }: Pick<RunPlan, "forecast">): string {
  const { planned, kept, verifyOnly, toRun, blocked } = forecast;
  const parts = [`${kept} kept`, `${verifyOnly} to verify again`, `${toRun} to run`];
  return `${planned} trials: ${[...parts, ...(blocked > 0 ? [`${blocked} blocked`] : [])].join(", ")}`;
}
