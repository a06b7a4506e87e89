import type { Unscored } from "../../model/outcome.ts";
import { classifyTrial } from "../../results/classify-trial.ts";
import { countTrials } from "../../results/count-trials.ts";
import type { JobTrials } from "../../results/group-trials.ts";
import { describeUnscored } from "./category-labels.ts";
import { listNames } from "./safe-text.ts";

const MAX_NAMES = 5;

/**
 * The `Outcomes:` line and, for trials without a score, one line a cause with what to do next (spec
 * 2.8). Unscored are those that the verifier left without a verdict; errored those that an agent's
 * or a sandbox's failure did.
 */
export function renderOutcomes(job: JobTrials): string[] {
  const { passed, failed, errored, verifierErrored, noVerdict } = countTrials([job]);
  const scored = `${passed + failed} scored (${passed} passed, ${failed} failed)`;
  const unscored = verifierErrored + noVerdict;
  return [
    `Outcomes: ${scored}, ${unscored} unscored, ${errored - noVerdict} errored`,
    ...renderCauses(job, "unscored"),
    ...renderCauses(job, "errored"),
  ];
}

interface Cause {
  readonly label: string;
  readonly fault: string;
  readonly next: string;
  readonly tasks: string[];
}

function renderCauses(job: JobTrials, word: "unscored" | "errored"): string[] {
  const causes = new Map<string, Cause>();
  for (const { taskName, record } of job.trials) {
    const { outcome } = record;
    if (outcome.kind === "scored" || wordOf(outcome, classifyTrial(record)) !== word) continue;
    const text = describeUnscored(outcome, record.verification?.refused);
    const key = `${text.label} ${text.fault}`;
    const cause = causes.get(key) ?? { ...text, tasks: [] };
    cause.tasks.push(taskName);
    causes.set(key, cause);
  }
  const ordered = [...causes.values()].toSorted((a, b) => b.tasks.length - a.tasks.length);
  return ordered.flatMap(({ label, fault, next, tasks }) => [
    `  ${tasks.length} ${word}: ${label} (${fault}): ${listNames(tasks, MAX_NAMES)}`,
    `      next: ${next}`,
  ]);
}

function wordOf(
  outcome: Unscored,
  kind: ReturnType<typeof classifyTrial>,
): "unscored" | "errored" | null {
  if (kind === "stopped") return null;
  return kind === "verifier_errored" || outcome.category === "no_verdict" ? "unscored" : "errored";
}

/**
 * The `Coverage:` line, where not every planned trial has a score, and who is missing besides the
 * unscored and errored ones above it (design 12, failures C-14).
 */
export function renderCoverage(job: JobTrials): string[] {
  const { planned, passed, failed } = countTrials([job]);
  const scored = passed + failed;
  if (scored === planned) return [];
  const stopped = (category: string): string[] =>
    job.trials.flatMap(({ taskName, record: { outcome } }) =>
      outcome.kind === "unscored" && outcome.category === category ? [taskName] : [],
    );
  return [
    `Coverage: ${scored} of ${planned} planned trials scored`,
    ...missing("stopped by the budget", stopped("budget_stopped")),
    ...missing("stopped by a usage anomaly", stopped("usage_anomaly")),
    ...missing("interrupted", stopped("interrupted")),
    ...missing("never started", job.neverStarted),
  ];
}

function missing(what: string, tasks: readonly string[]): string[] {
  return tasks.length === 0 ? [] : [`  ${tasks.length} ${what}: ${listNames(tasks, MAX_NAMES)}`];
}
