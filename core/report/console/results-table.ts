import { runsOf } from "../../results/loaded-job.ts";
import type { InterruptedAttempt, LoadedJob, LoadedJobs } from "../../results/loaded-job.ts";
import { mixedImages } from "../../results/mixed-images.ts";
import { formatPercent, formatReward } from "../../results/format-share.ts";
import { formatCount, formatDollars, formatDuration } from "./format-amounts.ts";
import { renderMixedImages } from "./run-lines.ts";
import { renderDoubts } from "./doubt-lines.ts";
import { showSafely, widthOf } from "./safe-text.ts";

/**
 * A table of texts, the first row its header: columns as wide as their widest cell, two spaces
 * between, no trailing spaces. Cells may come from tasks and agents: they are made safe here.
 */
export function renderTable(texts: readonly (readonly string[])[]): string[] {
  const rows = texts.map((row) => row.map(showSafely));
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[column] ?? "")), 0),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)))
      .join("  ")
      .trimEnd(),
  );
}

const HEADER = [
  "Job",
  "Agent",
  "Model",
  "Control",
  "Score",
  "Mean reward",
  "Unscored",
  "Tokens",
  "Cost",
  "Time",
];

/**
 * What `bench results` prints: a line a job, with the control that it is (`empty` is the nop agent).
 * The score is passed of total; unscored counts every planned trial without a score.
 */
export function renderResultsTable(loaded: LoadedJobs): string[] {
  const rows = loaded.jobs.map((job) => toRow(job, loaded.path));
  return renderTable([HEADER, ...rows]);
}

function toRow(job: LoadedJob, root: string): string[] {
  const { passed, failed, total, planned, meanReward } = job.counts;
  const { totalTokens, costUsd, unpricedAttempts } = job.spend;
  const atLeast = unpricedAttempts > 0 ? ">=" : "";
  const noCost = costUsd === null || totalTokens === 0;
  return [
    job.path.startsWith(`${root}/`) ? job.path.slice(root.length + 1) : job.path,
    job.agent,
    job.model ?? "-",
    job.control ?? "-",
    `${passed}/${total} (${formatPercent(passed, total)})`,
    meanReward === null ? "-" : formatReward(meanReward),
    String(planned - passed - failed),
    renderTokens(job),
    noCost ? "-" : `${atLeast}${formatDollars(costUsd)}`,
    formatDuration(job.elapsedSec),
  ];
}

/** Killed attempts used more than was counted. */
function renderTokens({ spend: { totalTokens }, killedAttempts }: LoadedJob): string {
  if (totalTokens === null || (totalTokens === 0 && killedAttempts > 0)) return "-";
  return `${killedAttempts > 0 ? ">=" : ""}${formatCount(totalTokens)}`;
}

/** A trial with a score is never drawn again: its killed attempt was before it, and is replaced. */
function isStillMissed({ trials }: LoadedJob): (attempt: InterruptedAttempt) => boolean {
  const scored = trials.filter(({ record }) => record.outcome.kind === "scored");
  const names = new Set(scored.map(({ taskName }) => taskName));
  return ({ taskName }) => !names.has(taskName);
}

/**
 * What a reader of the table must know besides, for stderr: attempts without a result, bad files,
 * trials with a doubt (`renderDoubts`), tasks that were scored on images that differ.
 */
export function renderResultsNotes(loaded: LoadedJobs): string[] {
  const notes = loaded.jobs.flatMap((job) => [
    ...job.interrupted
      .filter(isStillMissed(job))
      .map(
        ({ rolloutName }) =>
          `${showSafely(`${job.path}/${rolloutName}`)} has no result: it was interrupted, or still runs`,
      ),
    ...job.quarantined.map(
      ({ path, reason }) => `${showSafely(path)} is set aside: ${showSafely(reason)}`,
    ),
  ]);
  const doubts = loaded.jobs.flatMap(renderDoubts);
  const mixed = runsOf(loaded.jobs).flatMap((run) => renderMixedImages(mixedImages(run)));
  return [...notes, ...doubts, ...mixed];
}
