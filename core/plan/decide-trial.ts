import type { PlannedTrial } from "../model/plan.ts";
import type { TrialRecord } from "../model/record.ts";
import { endedRecords } from "./earlier-job.ts";
import type { EarlierAttempt } from "./earlier-job.ts";
import { compareAttempts, standingRecord } from "./standing-record.ts";
import { mayEqual } from "./trial-version.ts";

export interface TrialQuestion {
  readonly taskName: string;
  readonly taskDigest: string;
  readonly contextDigest: string | null;
  readonly settingsDigest: string;
  /** All attempts of this task in the job, in any order. */
  readonly attempts: readonly EarlierAttempt[];
}

export interface TrialDecision {
  readonly trial: PlannedTrial;
  readonly warnings: readonly string[];
}

/**
 * What happens to one trial: a score is kept and never drawn again; saved work without a verdict is
 * only verified again; whatever else has no score gets a new attempt (statistics D1, failures C-8,
 * C-14); a score that its seal contradicts blocks the trial until a person has looked.
 */
export function decideTrial(question: TrialQuestion): TrialDecision {
  const { taskName, taskDigest, contextDigest, attempts } = question;
  const own = endedRecords(attempts).filter((record) => isOf(record, question));
  const { record, duplicates } = standingRecord(own);
  const attempt = nextAttemptNumber(attempts);
  const verdict = judge(question, record, own);
  const verifierFailures = own.toSorted(compareAttempts).at(-1)?.verification?.failures ?? 0;
  const warnings = duplicates.map(
    (duplicate) =>
      `${taskName} was scored twice: ${record?.rolloutName ?? ""} counts, ${duplicate.rolloutName} does not`,
  );
  return {
    trial: { taskName, taskDigest, contextDigest, attempt, verifierFailures, ...verdict },
    warnings: [...warnings, ...quarantineWarnings(attempts)],
  };
}

/** Of a digest, its kind and 8 hex digits. */
const SHOWN_CHARS = "sha256:".length + 8;

type Verdict = Pick<PlannedTrial, "action" | "why" | "rolloutName">;

function judge(
  question: TrialQuestion,
  standing: TrialRecord | null,
  own: readonly TrialRecord[],
): Verdict {
  if (standing?.outcome.kind === "scored") {
    const why = `scored ${standing.outcome.reward} in ${standing.rolloutName}`;
    return { action: "keep", why, rolloutName: standing.rolloutName };
  }
  const doubtful = findDoubtfulScore(question);
  if (doubtful !== null) {
    const why = `${doubtful.rolloutName} holds a score, but ${doubtful.reason}`;
    return { action: "blocked", why, rolloutName: doubtful.rolloutName };
  }
  const unverified = firstUnverified(own);
  if (unverified !== null) {
    const { rolloutName } = unverified;
    const why = `the work of ${rolloutName} is saved and has no verdict`;
    return { action: "verify-only", why: why + whyRefused(rolloutName, own), rolloutName };
  }
  return { action: "run", why: whyRun(question, standing), rolloutName: null };
}

function findDoubtfulScore(
  question: TrialQuestion,
): { readonly rolloutName: string; readonly reason: string } | null {
  for (const attempt of question.attempts) {
    if (attempt.kind !== "quarantined" || attempt.doubtful === null) continue;
    const { doubtful } = attempt;
    if (doubtful.outcome.kind === "scored" && isOf(doubtful, question)) return attempt;
  }
  return null;
}

/** The first finished work is the trial's draw, as the first score would have been. */
function firstUnverified(own: readonly TrialRecord[]): TrialRecord | null {
  const waiting = own.filter(
    ({ outcome, workspaceSaved }) =>
      outcome.kind === "unscored" && outcome.verifyOnly && workspaceSaved,
  );
  return waiting.toSorted(compareAttempts)[0] ?? null;
}

/** Saved work that was found damaged is refused again and again: only a new draw helps. */
function whyRefused(rolloutName: string, own: readonly TrialRecord[]): string {
  const refused = own.find(
    ({ verification }) => verification?.refused && verification.verify_only_from === rolloutName,
  );
  if (refused === undefined) return "";
  return `, but ${refused.rolloutName} could not verify it again; only --fresh starts over`;
}

function whyRun(question: TrialQuestion, standing: TrialRecord | null): string {
  if (standing?.outcome.kind === "unscored") {
    const { category, fault, detail } = standing.outcome;
    return `unscored in ${standing.rolloutName}: ${category} (${fault}), ${detail}`;
  }
  const ended = endedRecords(question.attempts);
  const changed = ended.find(({ taskDigest }) => taskDigest !== question.taskDigest);
  if (changed !== undefined) {
    const { rolloutName, taskDigest } = changed;
    return `the task changed since ${rolloutName}: ${change(taskDigest, question.taskDigest)}`;
  }
  const rebuilt = ended.find(
    ({ contextDigest }) => !mayEqual(contextDigest, question.contextDigest),
  );
  if (rebuilt !== undefined) {
    const { rolloutName, contextDigest } = rebuilt;
    return `its build context changed since ${rolloutName}: ${change(contextDigest, question.contextDigest)}`;
  }
  const other = question.attempts[0];
  switch (other?.kind) {
    case "quarantined":
      return `${other.rolloutName} cannot be read: ${other.reason}`;
    case "unfinished":
      return `${other.rolloutName} was started and did not end`;
    case "ended":
      return `${other.rolloutName} was run with other settings`;
    case undefined:
      return "not started yet";
  }
}

function isOf(record: TrialRecord, question: TrialQuestion): boolean {
  return (
    record.taskDigest === question.taskDigest &&
    mayEqual(record.contextDigest, question.contextDigest) &&
    record.settingsDigest === question.settingsDigest
  );
}

/** Every attempt made a folder, so their count bounds the numbers that unreadable ones had. */
export function nextAttemptNumber(attempts: readonly EarlierAttempt[]): number {
  const used = endedRecords(attempts).map(({ attempt }) => attempt ?? 0);
  return used.reduce((most, attempt) => Math.max(most, attempt), attempts.length) + 1;
}

function quarantineWarnings(attempts: readonly EarlierAttempt[]): string[] {
  return attempts.flatMap((attempt) =>
    attempt.kind === "quarantined"
      ? [`${attempt.rolloutName} is set aside: ${attempt.reason}`]
      : [],
  );
}

function change(before: string | null, now: string | null): string {
  const [from, to] = [before, now].map((digest) => (digest ?? "unknown").slice(0, SHOWN_CHARS));
  return `${from} -> ${to}`;
}
