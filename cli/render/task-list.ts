import type { Task } from "../../core/model/task.ts";
import { renderTable } from "../../core/report/console/results-table.ts";

/** The table of `bench tasks list`. */
export function renderTaskList(tasks: readonly Task[]): string {
  const rows = tasks.map((task) => {
    const { agent, sandbox } = task.config;
    return [
      task.name,
      task.layout,
      `${agent.timeoutSec ?? 900} s`,
      sandbox.networkMode ?? "default",
      task.oracleDir === null ? "no" : "yes",
      task.refusals.length === 0
        ? "yes"
        : `no: ${task.refusals.map(({ path }) => path).join(", ")}`,
    ];
  });
  const header = ["Task", "Layout", "Agent time", "Network", "Oracle", "Runs here"];
  return `${renderTable([header, ...rows]).join("\n")}\n`;
}
