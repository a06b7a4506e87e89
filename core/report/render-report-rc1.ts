import type { CardGroup, RunCard } from "../model/run-card.ts";
import { formatReward } from "../results/format-share.ts";
import { ratio } from "../results/ratio.ts";
import { wilsonInterval } from "../stats/wilson.ts";
import { renderScripted } from "./render-headline.ts";
import { renderSampling } from "./render-sampling.ts";
import { renderSpendLine } from "./render-spend-line.ts";
import { renderTaskTable } from "./render-task-table.ts";
import {
  errorsOf,
  escapeMarkdown,
  formatInterval,
  formatRate,
  nameSetting,
} from "./report-texts.ts";

/**
 * report.md by the rules of BenchFlow 0.10.0rc1 (`--rules rc1`): the interval takes trials as
 * independent, and says so. One block a setting, since a score over several measures none of them.
 */
export function renderReportRc1(card: RunCard): string {
  const blocks = card.groups.flatMap((group) => [
    "",
    renderHeadline(group),
    ...renderScripted(group).map((sentence) => `\nWarning: ${sentence}.`),
    "",
    ...renderTaskTable(group.tasks),
    "",
    renderSpendLine(group),
    "",
    renderSampling(group.sampling),
  ]);
  return `${[`# Report: ${escapeMarkdown(card.name)}`, ...blocks].join("\n")}\n`;
}

function renderHeadline(group: CardGroup): string {
  const { counts, tasks, mean_reward: mean } = group;
  const trials = counts.scored + errorsOf(group);
  const rate = ratio(counts.passed, trials);
  const interval = formatInterval(wilsonInterval(counts.passed, trials));
  const share =
    rate === null
      ? "no trial counts"
      : `${formatRate(rate)}, 95% interval ${interval}, counting trials as independent`;
  return (
    `${trials} trials of ${tasks.length} tasks, ${nameSetting(group.setting)}: ${counts.passed} passed ` +
    `(${share}), mean reward ${mean === null ? "unknown" : formatReward(mean)}, ${errorsOf(group)} with an error.`
  );
}
