import type { Outcome } from "../../../core/model/outcome.ts";
import { toResultOutcome } from "../../../core/results/result-outcome.ts";
import { digestOf, digestOfSettings, scored, someSettings } from "../../core/plan/plan-builders.ts";

export const JOB_NAME = "2026-11-04__18-24-21";
export const EVALUATION = `${JSON.stringify({
  tasks_dir: "tasks",
  settings_digest: digestOfSettings(someSettings()),
})}\n`;

export interface ResultOver {
  readonly attempt?: number;
  readonly outcome?: Outcome;
  readonly workspaceSaved?: boolean;
}

/** A result.json of ours. */
export function resultText(taskName: string, over: ResultOver = {}): string {
  const { attempt = 1, outcome = scored(1), workspaceSaved = false } = over;
  const result = {
    task_name: taskName,
    rewards: outcome.kind === "scored" ? { reward: outcome.reward } : null,
    agent: "oracle",
    outcome: toResultOutcome(outcome),
    attempt,
    task_digest: digestOf(taskName),
    settings_digest: digestOfSettings(someSettings()),
    workspace_saved: workspaceSaved,
  };
  return `${JSON.stringify(result, null, 2)}\n`;
}
