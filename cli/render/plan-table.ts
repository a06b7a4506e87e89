import type { RunPlan } from "../../core/model/plan.ts";
import type { RunMoney } from "../../core/model/run-money.ts";
import type { BackendReach } from "../../core/plan/backend-reach.ts";
import { explainPlan, forecastLine } from "../../core/plan/explain.ts";
import { renderMoney } from "../../core/report/console/money-lines.ts";
import { renderReach } from "../../core/report/console/reach-lines.ts";
import { renderTable } from "../../core/report/console/results-table.ts";

export interface PlanFacts {
  readonly plan: RunPlan;
  readonly backends: readonly BackendReach[];
  /** Null for a run that spends nothing anybody counts. */
  readonly money: RunMoney | null;
}

/**
 * The `--dry-run` table: one line a trial in start order, with `--explain` each one's reason; below it
 * what would run where, what money it would draw on, and how many of the tasks each backend can run (attack 25).
 */
export function renderPlan(
  { plan, backends, money }: PlanFacts,
  { explain }: { explain: boolean },
): string {
  const header = ["Repeat", "Task", "Action", "Attempt", "Why"];
  const rows = explainPlan(plan).map((trial) => [
    trial.repeat === null ? "-" : String(trial.repeat),
    trial.task,
    trial.action,
    trial.attempt === null ? "-" : String(trial.attempt),
    explain || trial.action === "skipped" ? trial.why : "",
  ]);
  const { agent, model, environment, concurrency } = plan.settings;
  const lines = [
    ...renderTable([header, ...rows]),
    "",
    `${agent}${model === null ? "" : ` on ${model}`}, --env ${environment}, -j ${String(concurrency)}`,
    ...plan.jobs.map(
      (job) => `Job: ${job.jobsDir}/${job.jobName}${job.resumed ? " (resumed)" : ""}`,
    ),
    forecastLine(plan),
    ...(money === null ? [] : renderMoney(money)),
    ...renderReach(backends),
    ...plan.warnings.map((warning) => `warning: ${warning}`),
  ];
  return `${lines.join("\n")}\n`;
}
