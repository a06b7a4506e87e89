import type { Task } from "../../core/model/task.ts";
import { DEFAULT_AGENT_TIMEOUT_SEC } from "../../core/plan/settings-digest.ts";
import { ANY_AGENT, taskRefusals } from "../../core/plan/task-refusals.ts";
import { renderTable } from "../../core/report/console/results-table.ts";

/** Why no sandbox of this edition runs a task: for any agent, and for the controls oracle and nop. */
export interface NotRun {
  readonly agents: readonly string[];
  readonly controls: readonly string[];
}

export function notRun(task: Task): NotRun {
  return {
    agents: taskRefusals(task, ANY_AGENT),
    controls: taskRefusals(task, { ...ANY_AGENT, agentIsHostile: false }),
  };
}

/** The table of `bench tasks list`. */
export function renderTaskList(tasks: readonly Task[]): string {
  const rows = tasks.map((task) => {
    const { agent, sandbox } = task.config;
    return [
      task.name,
      task.layout,
      `${agent.timeoutSec ?? DEFAULT_AGENT_TIMEOUT_SEC} s`,
      sandbox.networkMode ?? "default",
      task.oracleDir === null ? "no" : "yes",
      describe(notRun(task)),
    ];
  });
  const header = ["Task", "Layout", "Agent time", "Network", "Oracle", "Runs here"];
  return `${renderTable([header, ...rows]).join("\n")}\n`;
}

function describe({ agents, controls }: NotRun): string {
  if (controls.length > 0) return `no: ${namesOf(agents)}`;
  return agents.length === 0 ? "yes" : `controls only: ${namesOf(agents)}`;
}

/** The key of the task that each reason is about; `bench tasks check` has the whole sentence. */
function namesOf(reasons: readonly string[]): string {
  return reasons.map((reason) => reason.split(": ", 1)[0] ?? "").join(", ");
}
