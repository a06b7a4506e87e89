import { budgetLines } from "../../ledger/summarize-budget.ts";
import type { BudgetSummary } from "../../model/ledger-budget.ts";
import { isScripted } from "../../model/scripted-name.ts";
import { failureReason } from "../../outcome/failure-reason.ts";
import { classifyTrial } from "../../results/classify-trial.ts";
import { countTrials } from "../../results/count-trials.ts";
import type { TrialCounts } from "../../results/count-trials.ts";
import { formatPercent, formatReward } from "../../results/format-share.ts";
import type { JobTrials, Trial } from "../../results/group-trials.ts";
import { renderCost } from "./cost-line.ts";
import { formatDuration } from "./format-amounts.ts";
import { renderCoverage, renderOutcomes } from "./outcome-lines.ts";
import { showCut, showSafely } from "./safe-text.ts";

/** A job as its final block tells of it. */
export interface BlockFacts {
  /** The job's folder, as a person can type it. */
  readonly jobDir: string;
  /** Seconds of this command. */
  readonly elapsedSec: number;
  /** Trials kept from an earlier command. */
  readonly reused: number;
  /** Whether the job was there before this command; a new one without a trial leaves no folder. */
  readonly resumed?: boolean;
  /** Of the command's pot; null or absent where nobody counts. */
  readonly budget?: BudgetSummary | null;
}

const MAX_FAILURES = 5;
const MAX_REASON_LENGTH = 100;

/** The final block of a job on stdout (spec 2.8, mission page), the empty line before it included. */
export function renderFinalBlock(job: JobTrials, facts: BlockFacts): string[] {
  const counts = countTrials([job]);
  const tail = facts.reused === 0 ? "" : ` (this run; ${facts.reused} task(s) reused from before)`;
  return [
    "",
    renderScore(counts),
    ...renderScripted(job),
    ...renderFailures(job, facts.jobDir),
    ...renderOutcomes(job),
    ...renderCoverage(job),
    ...renderBudget(facts),
    `Cost:      ${renderCost(job)}`,
    `Time:      ${formatDuration(facts.elapsedSec)}${tail}`,
    `Artifacts: ${leavesNothing(job, facts) ? "none: no trial was started" : showSafely(facts.jobDir)}`,
  ];
}

function leavesNothing({ trials, superseded }: JobTrials, { resumed }: BlockFacts): boolean {
  return resumed === false && trials.length + superseded.length === 0;
}

/** Under a cap always, so that a reader sees what is spent of it (spec 5.5). */
function renderBudget({ budget }: BlockFacts): string[] {
  return budget == null ? [] : budgetLines(budget).map(showSafely);
}

function renderScore(counts: TrialCounts): string {
  const { passed, total, meanReward, errored, verifierErrored } = counts;
  const mean = meanReward === null ? "" : `mean reward ${formatReward(meanReward)}, `;
  const verifier = verifierErrored === 0 ? "" : ` verifier-errors=${verifierErrored}`;
  const share = `${passed}/${total} (${formatPercent(passed, total)})`;
  return `${markOf(counts)} Score: ${share}, ${mean}errors=${errored}${verifier}`;
}

/** Right below the score, so that nobody copies it as a model's. */
function renderScripted({ trials }: JobTrials): string[] {
  const names = new Set(trials.map(({ record }) => record.model).filter(isScripted));
  if (names.size === 0) return [];
  const scripts = showSafely([...names].join(", "));
  return [`Scripted:  ${scripts} answered in the place of a model, so this is no model's score`];
}

function markOf({ passed, planned }: TrialCounts): string {
  if (passed === 0) return "✗";
  return passed === planned ? "✓" : "•";
}

function renderFailures(job: JobTrials, jobDir: string): string[] {
  const failures = job.trials.filter(({ record }) => {
    const kind = classifyTrial(record);
    return kind !== "passed" && kind !== "stopped";
  });
  const shown = failures.slice(0, MAX_FAILURES);
  const lines = shown.map(
    (trial) => `  ✗ ${showSafely(trial.taskName)}: ${showCut(reasonOf(trial), MAX_REASON_LENGTH)}`,
  );
  const more = failures.length - shown.length;
  if (more > 0) lines.push(`  … and ${more} more`);
  const unclear = shown.find(isUnclear);
  if (unclear !== undefined) {
    lines.push(`  (details: ${showSafely(`${jobDir}/${unclear.record.rolloutName}/verifier`)})`);
  }
  return lines;
}

/** Where the line alone is not enough: a verifier that failed, or a reason that was cut. */
function isUnclear(trial: Trial): boolean {
  return (
    classifyTrial(trial.record) === "verifier_errored" ||
    showCut(reasonOf(trial), MAX_REASON_LENGTH).endsWith("…")
  );
}

/** The reason of spec 2.8; what an agent's or a sandbox's failure left unscored tells that failure. */
function reasonOf({ record }: Trial): string {
  const { outcome, rewards, verifierError, firstFailedTest } = record;
  if (outcome.kind === "scored") {
    return failureReason({ outcome, rewards, verifierError: null, firstFailedTest });
  }
  const isVerifiers = classifyTrial(record) === "verifier_errored";
  return isVerifiers ? (verifierError?.message ?? outcome.detail) : outcome.detail;
}
