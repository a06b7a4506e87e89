import type { CardControl, CardGroup, CardTask, RunCard } from "../model/run-card.ts";
import { RunSettings } from "../model/settings.ts";
import { compareNames } from "../plan/compare-names.ts";
import { FEW_TASKS } from "../stats/interval-cautions.ts";
import { wilsonInterval } from "../stats/wilson.ts";
import { formatCount, formatDollars } from "./console/format-amounts.ts";
import { showSafely } from "./console/safe-text.ts";
import { nameAgent, nameBenchmark, nameFamily, nameSandbox } from "./published-names.ts";
import { countOf, renderScripted } from "./render-headline.ts";
import { nameControl } from "./render-report.ts";
import { renderCostStatus } from "./render-spend-line.ts";
import { errorsOf, formatInterval, formatRate } from "./report-texts.ts";

/** A line of the list of tasks is broken before it gets longer. */
const MAX_LINE = 110;
const DEFAULT_RETRIES = RunSettings.shape.retryAttempts.parse(undefined);

/**
 * The paragraphs that a result is published with (mission page "Report a result"): the number and its
 * uncertainty first, then conditions, controls, what was left out, cost, and what cannot be claimed.
 * Plain text, in which what would move a terminal's cursor is written out; what nothing recorded is said
 * to be unknown. One block a setting.
 */
export function renderWriteUp(card: RunCard): string {
  const blocks = card.groups.map((group) =>
    [
      ...renderConditions(card, group),
      "",
      ...renderScripted(group).map((sentence) => `${sentence}.`),
      ...renderResult(card, group),
    ]
      .map(showSafely)
      .join("\n"),
  );
  return `${blocks.join("\n\n")}\n`;
}

function renderConditions(card: RunCard, group: CardGroup): string[] {
  const { setting, counts, tasks } = group;
  const tries =
    counts.tries_per_task === null
      ? "different numbers of tries"
      : `${counts.tries_per_task} ${counts.tries_per_task === 1 ? "try" : "tries"} each`;
  const set = `${tasks.length} ${nameTasks(card, tasks.length)}`;
  const agent = nameAgent(setting);
  const who =
    setting.model === null ? agent : `${agent} on ${setting.model}, ${nameEffort(setting)}`;
  return [
    `${who};`,
    `${setting.tool ?? "tool version unknown"} on ${nameSandbox(setting.environment)}; ${set}, ` +
      `${tries} (${countOf(counts.planned, "trial")}), ${nameRetries(card)}.`,
  ];
}

function nameEffort({ effort, effort_known: isKnown }: CardGroup["setting"]): string {
  if (effort !== null) return `effort ${effort}`;
  return isKnown ? "the agent's default effort" : "effort unknown";
}

function nameTasks(card: RunCard, count: number): string {
  const noun = count === 1 ? "task" : "tasks";
  const { name, commit, isDirty } = nameBenchmark(card.jobs);
  const of = name === null ? noun : `${name} ${noun}`;
  if (commit === null) return `${of}, commit unknown`;
  return `${of} at commit ${commit.slice(0, 8)}${isDirty ? " with changes" : ""}`;
}

function nameRetries({ jobs }: RunCard): string {
  const counts = new Set(jobs.map(({ settings }) => settings["retry_attempts"]));
  const [retries] = counts;
  if (counts.size !== 1 || typeof retries !== "number") return "number of retries unknown";
  return retries === DEFAULT_RETRIES ? `retries at the default (${retries})` : `retries ${retries}`;
}

function renderResult(card: RunCard, group: CardGroup): string[] {
  const { counts, tasks, score, score_95: interval } = group;
  if (score === null || interval === null) {
    return [`None of ${counts.planned} planned trials has a score.`, ...renderLeftOut(card, group)];
  }
  const resampled = interval.method === "enumerated" || interval.method === "resampled";
  const how = resampled ? `over the ${countOf(interval.tasks, "task")}, resampled` : "(Wilson)";
  const coverage = counts.scored === counts.planned ? "" : ` (${counts.planned} planned trials)`;
  const beside = besideInterval(group, resampled);
  return [
    `${counts.passed} of ${counts.scored} trials passed: ${formatRate(score)}${coverage}. ` +
      `95% interval ${how}: ${formatInterval(interval)}${beside.length === 0 ? "." : ";"}`,
    ...beside,
    ...renderTasks(tasks),
    ...renderLeftOut(card, group),
  ];
}

/** Wilson's interval over the trials, where it is another one. */
function besideInterval({ counts, tasks }: CardGroup, resampled: boolean): string[] {
  const { passed, scored } = counts;
  const wilson = formatInterval(wilsonInterval(passed, scored));
  const isRepeated = scored > tasks.filter(({ trials }) => trials > 0).length;
  if (!isRepeated) return resampled ? [`${wilson} by Wilson.`] : [];
  return [
    `${wilson} if the ${scored} trials were independent (Wilson), which tries of one task aren't.`,
  ];
}

/** The solved first, so that what failed stands at the end with its reason. */
function renderTasks(tasks: readonly CardTask[]): string[] {
  const ordered = tasks.toSorted(
    (a, b) => (b.pass_rate ?? -1) - (a.pass_rate ?? -1) || compareNames(a.task_name, b.task_name),
  );
  const lines: string[] = [];
  let line = "Per task:";
  for (const [index, task] of ordered.entries()) {
    const item = `${renderTask(task)}${index === ordered.length - 1 ? "." : ","}`;
    if (line !== "Per task:" && line.length + 1 + item.length > MAX_LINE) {
      lines.push(line);
      line = item;
    } else line += ` ${item}`;
  }
  return [...lines, line];
}

function renderTask(task: CardTask): string {
  const { limit_hits: hits, trials, limit_sec: limit } = task;
  const shown = `${task.task_name} ${task.passed}/${task.trials}`;
  if (hits === 0) return shown;
  const who = hits === trials ? "each try" : `${hits} of ${trials} tries`;
  return `${shown} (${who} stopped at its ${limit === null ? "time limit" : `${nameLimit(limit)} limit`})`;
}

function nameLimit(seconds: number): string {
  return seconds % 60 === 0 ? `${seconds / 60}-minute` : `${seconds}-second`;
}

function renderLeftOut(card: RunCard, group: CardGroup): string[] {
  return [
    `${renderControls(card.controls)} ${renderMissing(group)}`,
    renderTokens(group),
    renderUncontrolled(card, group),
  ];
}

function renderControls(controls: readonly CardControl[]): string {
  if (controls.length === 0) return "No controls were run on the same tasks.";
  const shown = controls.map((one) => `${nameControl(one)} ${one.passed}/${one.tasks}`);
  return `Controls on the same tasks: ${shown.join(", ")}.`;
}

function renderMissing(group: CardGroup): string {
  const { counts, spend, unscored } = group;
  const missing = counts.planned - counts.scored;
  if (missing === 0 && errorsOf(group) === 0 && spend.retried_trials === 0) {
    return "No trial was unscored, errored or retried.";
  }
  const causes = unscored.map(({ label, trials }) => `${trials.length} ${label}`);
  const parts = [
    `${missing} of ${counts.planned} trials have no score${causes.length > 0 ? ` (${causes.join(", ")})` : ""}`,
    `${counts.stopped} stopped by a budget or an interrupt`,
    `${counts.never_started} never started`,
    `${spend.retried_trials} retried`,
  ];
  return `${parts.join(", ")}.`;
}

function renderTokens({ spend, setting }: CardGroup): string {
  const { total_tokens: tokens, cost_usd: cost, uncounted_attempts: rest } = spend;
  if (tokens === 0 && rest === 0) return "Tokens: none, no model was used.";
  const shown =
    tokens === null ? "unknown" : `${rest > 0 ? "at least " : ""}${formatCount(tokens)} in all`;
  if (cost === null || (cost === 0 && spend.unpriced_attempts > 0)) {
    const model = setting.model === null ? "the model" : nameFamily(setting.model);
    return `Tokens: ${shown}; ${model} has no price in BenchFlow, so no cost is given.`;
  }
  const sources = spend.price_sources.length === 0 ? "unknown" : spend.price_sources.join(", ");
  const perPass =
    spend.cost_per_pass_usd === null ? "" : `, ${formatDollars(spend.cost_per_pass_usd)} a pass`;
  return `Tokens: ${shown}; cost ${renderCostStatus(spend)}${perPass}, prices from ${sources}.`;
}

function renderUncontrolled(card: RunCard, { sampling, tasks, setting }: CardGroup): string {
  const sent = new Set(sampling.parameters.map(({ name }) => name));
  const isDefault = !sent.has("temperature") || !sent.has("top_p");
  const open =
    isDefault && setting.model !== null
      ? ["Not controlled: the provider's sampling defaults."]
      : [];
  return [...open, ...renderClaim(card, tasks.length)].join(" ");
}

const NUMBERS = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"];

function renderClaim({ jobs }: RunCard, tasks: number): string[] {
  if (tasks >= FEW_TASKS) return [];
  const verb = tasks === 1 ? "task says" : "tasks say";
  const { name } = nameBenchmark(jobs);
  return [
    `${NUMBERS[tasks] ?? String(tasks)} ${verb} nothing about ${name ?? "the benchmark"} as a whole.`,
  ];
}
