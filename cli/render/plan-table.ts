import type { RunPlan } from "../../core/model/plan.ts";
import { explainPlan, forecastLine } from "../../core/plan/explain.ts";
import { renderTable } from "../../core/report/console/results-table.ts";

/** The `--dry-run` table: one line a trial in start order, with `--explain` each one's reason. */
export function renderPlan(plan: RunPlan, { explain }: { explain: boolean }): string {
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
    ...plan.warnings.map((warning) => `warning: ${warning}`),
  ];
  return `${lines.join("\n")}\n`;
}
