import type { MatrixSummary } from "../model/matrix-summary.ts";
import { contractCounts, countTrials } from "./count-trials.ts";
import type { JobTrials } from "./group-trials.ts";
import { mixedImages } from "./mixed-images.ts";
import { solveRates } from "./solve-rates.ts";

/** A finished repeat of a run with several. */
export interface MatrixJob {
  /** The agent's name, or the entry's in a matrix file. */
  readonly alias: string;
  readonly repeat: number;
  /** The repeat's own jobs folder, `<jobs>/<alias>/trial-NN`. */
  readonly jobsDir: string;
  readonly trials: JobTrials;
}

/** matrix-summary.json's content (spec 4.2) for the repeats so far, in the order of the run. */
export function summarizeMatrix(jobs: readonly MatrixJob[], repeats: number): MatrixSummary {
  const mixed = mixedImages(jobs.map((job) => job.trials));
  const aliases = [...new Set(jobs.map((job) => job.alias))];
  return {
    matrix: null,
    ...(mixed.length > 0 ? { mixed_images: mixed } : {}),
    runs: jobs.map(toRun),
    schema_version: 1,
    solve_rates: Object.fromEntries(
      aliases.map((alias) => [
        alias,
        solveRates(jobs.filter((job) => job.alias === alias).map((job) => job.trials)),
      ]),
    ),
    trials: repeats,
  };
}

function toRun(job: MatrixJob): MatrixSummary["runs"][number] {
  return {
    alias: job.alias,
    jobs_dir: job.jobsDir,
    trial: job.repeat,
    ...contractCounts(countTrials([job.trials])),
  };
}

/** The text of matrix-summary.json: indent 2, keys sorted, final newline. */
export function renderMatrixSummary(summary: MatrixSummary): string {
  return `${JSON.stringify(sortKeys(summary), null, 2)}\n`;
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortKeys(member)]));
}
