import type { CardTask } from "../model/run-card.ts";
import {
  drawBar,
  escapeMarkdown,
  formatPair,
  formatRate,
  formatShortReward,
} from "./report-texts.ts";

const MAX_REWARDS = 10;

/** The table of tasks, the same under every rule (spec 1.10): a row a task, with a bar. */
export function renderTaskTable(tasks: readonly CardTask[]): string[] {
  return [
    "| Task | Trials | Passed | Pass rate | 95% interval | Rewards | |",
    "|---|---|---|---|---|---|---|",
    ...tasks.map(renderRow),
  ];
}

function renderRow(task: CardTask): string {
  const { pass_rate: rate } = task;
  const cells = [
    escapeMarkdown(task.task_name),
    String(task.trials),
    String(task.passed),
    rate === null ? "-" : formatRate(rate),
    task.interval_95 === null ? "-" : formatPair(task.interval_95),
    listRewards(task.rewards),
    rate === null ? "" : drawBar(rate),
  ];
  return `| ${cells.join(" | ")} |`;
}

function listRewards(rewards: readonly number[]): string {
  if (rewards.length === 0) return "-";
  const shown = rewards.slice(0, MAX_REWARDS).map(formatShortReward).join(", ");
  return rewards.length > MAX_REWARDS ? `${shown}, …` : shown;
}
