import { isScripted } from "../model/scripted-name.ts";
import type { CardGroup, CardInterval } from "../model/run-card.ts";
import { formatReward } from "../results/format-share.ts";
import { wilsonInterval } from "../stats/wilson.ts";
import {
  errorsOf,
  escapeMarkdown,
  formatInterval,
  formatRate,
  nameSetting,
} from "./report-texts.ts";

/**
 * The line of one setting by the scoring rule (0.10.0rc2, spec 1.10): passed of the scored trials, the
 * mean over tasks with its interval over tasks, and the coverage whenever a planned trial has no score.
 */
export function renderHeadline(group: CardGroup): string {
  const { counts, tasks, mean_reward: mean, score, score_95: interval } = group;
  const share =
    score === null
      ? "no trial has a score"
      : `${formatRate(score)}, 95% interval ${formatInterval(interval)} over the ${countOf(tasks.length, "task")}`;
  return (
    `${counts.scored} trials of ${tasks.length} tasks, ${nameSetting(group.setting)}: ` +
    `${counts.passed} passed (${share}), ` +
    `mean reward ${mean === null ? "unknown" : formatReward(mean)}, ` +
    `${errorsOf(group)} with an error${renderCoverage(group)}.`
  );
}

export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function renderCoverage({ counts }: CardGroup): string {
  if (counts.scored === counts.planned) return "";
  const share = formatRate(counts.scored / counts.planned);
  return `; coverage ${share}: ${counts.scored} of ${counts.planned} planned trials have a score`;
}

/** The line after the headline: which rule counted, how the interval came about, Wilson's beside it. */
export function renderRule(group: CardGroup): string {
  const { counts, score_95: interval } = group;
  const rule =
    "Rule: a trial passes when its reward is exactly 1; a task's rate is of its scored trials, the score is the " +
    "mean of the tasks' rates";
  if (interval === null) return `${rule}; without a scored trial there is no interval.`;
  if (interval.method === "wilson-trials") return `${rule}, ${METHODS["wilson-trials"](interval)}.`;
  const wilson = formatInterval(wilsonInterval(counts.passed, counts.scored));
  const isRepeated = counts.scored > interval.tasks;
  const tail = isRepeated ? ", which trials of one task are not" : "";
  return (
    `${rule}, ${METHODS[interval.method](interval)}. ` +
    `Wilson's interval, if the ${countOf(counts.scored, "trial")} were independent${tail}: ${wilson}.`
  );
}

const METHODS: Record<CardInterval["method"], (interval: CardInterval) => string> = {
  enumerated: () =>
    "and the interval resamples the tasks, every resample counted, at 2.5% on each side",
  resampled: ({ resamples, seed, level }) =>
    `and the interval resamples the tasks, ${resamples ?? "unknown"} times with seed ` +
    `${seed ?? "unknown"}, at ${level === null ? "unknown" : `${(level * 100).toFixed(2)}%`} on each side ` +
    "(widened for few tasks)",
  "wilson-tasks": () =>
    "and the interval is Wilson's with each task as one trial, since all tasks have one rate (conservative)",
  "wilson-trials": () => "and the interval is Wilson's over the trials of the one task",
};

const CAUTIONS: Readonly<Record<string, string>> = {
  "one-task": "one task says nothing about others",
  "few-tasks": "too few tasks: fewer than 10 say little about others, whatever the interval",
  "equal-tasks": "every task has the same rate, so that nothing tells how tasks differ",
  "few-outcomes":
    "few passes or few failures: under 5 tasks' worth of them, where the interval may cover less than 95% (docs/statistics.md)",
  "few-trials": "some task has fewer than 3 trials: a noisy number",
};

/** The sentence, without its end, that goes wherever a script's number goes; none of a model's. */
export function renderScripted({ setting: { model } }: CardGroup): string[] {
  if (model === null || !isScripted(model)) return [];
  return [`${escapeMarkdown(model)} answered in the place of a model, so this is no model's score`];
}

/** What a reader has to know before the number is used, a line each. */
export function renderWarnings(group: CardGroup): string[] {
  const dropped = group.tasks
    .filter(({ trials }) => trials === 0)
    .map(({ task_name: name }) => name);
  const tries = new Set(group.tasks.map(({ trials }) => trials));
  return [
    ...renderScripted(group),
    ...group.cautions.map((caution) => CAUTIONS[caution] ?? caution),
    ...(tries.size > 1 ? ["tasks have different numbers of scored trials"] : []),
    ...(dropped.length > 0
      ? [
          `no trial of ${dropped.map(escapeMarkdown).join(", ")} has a score: the interval leaves it out`,
        ]
      : []),
    ...group.mixed_images.map(
      ({ task_name: name, image_digests: digests }) =>
        `${escapeMarkdown(name)} was scored on ${digests.length} different images`,
    ),
    ...(group.suspects.length > 0
      ? [
          `${countOf(group.suspects.length, "trial")} may have tampered with what judges it; no score was changed`,
        ]
      : []),
  ].map((warning) => `Warning: ${warning}.`);
}
