import type { CardGroup, CardJob, RunCard } from "../model/run-card.ts";
import type { ResultSource } from "../model/trial-result.ts";
import { compareNames } from "../plan/compare-names.ts";
import type { Sha256 } from "../ports/hash.ts";
import { DEFAULT_SEED } from "../stats/task-interval.ts";
import { type GroupOptions, joinPath } from "./group-options.ts";
import type { ReportJob } from "./report-job.ts";
import { differencesBetween, groupBySetting } from "./setting-groups.ts";
import { summarizeControls } from "./summarize-controls.ts";
import { summarizeGroup } from "./summarize-group.ts";

/** What a card is made of. */
export interface CardInput {
  readonly name: string;
  readonly scope: RunCard["scope"];
  /** In any order. */
  readonly jobs: readonly ReportJob[];
  /** Path of a job relative to what the card is of. */
  readonly pathOf: (jobPath: string) => string;
  /** Default: 0. */
  readonly seed?: number;
}

/**
 * The run card of jobs (spec 1.10): every number, condition and hash that a report of them says. It is
 * a function of the jobs' files alone; controls are told beside the scores and are in none of them,
 * except where there is nothing else.
 */
export function buildRunCard(input: CardInput, sha256: Sha256): RunCard {
  const options: GroupOptions = { pathOf: input.pathOf, seed: input.seed ?? DEFAULT_SEED };
  const jobs = input.jobs.toSorted((a, b) => compareNames(a.job.path, b.job.path));
  const controls = jobs.filter(({ job }) => job.control !== null);
  const scored = jobs.filter(({ job }) => job.control === null);
  const measured = scored.length === 0 ? controls : scored;
  const groups = groupBySetting(measured, sha256).map((group) => summarizeGroup(group, options));
  return {
    kind: "benchflow.run-card",
    schema_version: 1,
    name: input.name,
    scope: input.scope,
    rules: "rc2",
    success_rule: "passed (reward = 1)",
    groups,
    mixed: differencesBetween(groups.map(({ setting }) => setting)),
    controls: summarizeControls(controls, scored),
    seeds: {
      intervals: usesSeed(groups) ? options.seed : null,
      generator: "xoroshiro128+ (pure-rand)",
      task_sample: seedsIn(measured, "sample_seed"),
      task_order: seedsIn(measured, "shuffle_seed"),
    },
    looks: { rule: "fixed before the run", recorded: false },
    jobs: jobs.map((job) => toCardJob(job, options)),
    seals: sealRoot(jobs, options, sha256),
  };
}

/** The text of run-card.json: indent 2, final newline. */
export function renderRunCard(card: RunCard): string {
  return `${JSON.stringify(card, null, 2)}\n`;
}

function usesSeed(groups: readonly CardGroup[]): boolean {
  return groups.some(({ score_95: interval }) => interval?.seed != null);
}

function seedsIn(jobs: readonly ReportJob[], key: string): number[] {
  const seeds = jobs.flatMap(({ evaluation }) => evaluation?.config[key] ?? []);
  const numbers = seeds.filter((seed) => typeof seed === "number");
  return [...new Set(numbers)].toSorted((a, b) => a - b);
}

function toCardJob(report: ReportJob, options: GroupOptions): CardJob {
  const { job, evaluation } = report;
  const started = job.records.map(({ startedAt }) => startedAt).filter((stamp) => stamp !== "");
  const finished = job.records.map(({ finishedAt }) => finishedAt).filter((stamp) => stamp !== "");
  const path = options.pathOf(job.path);
  return {
    path,
    job_name: job.jobName,
    repeat: job.repeat,
    agent: job.agent,
    model: job.model,
    control: job.control,
    created_at_utc: evaluation?.created_at_utc ?? null,
    first_started: started.toSorted()[0] ?? null,
    last_finished: finished.toSorted().at(-1) ?? null,
    config: evaluation?.config ?? {},
    settings: evaluation?.settings ?? {},
    source: commonSource(report),
    budget: report.budget,
    files: Object.fromEntries(
      Object.entries(report.files).toSorted(([a], [b]) => compareNames(a, b)),
    ),
    interrupted: job.interrupted.map(({ rolloutName }) => rolloutName).toSorted(compareNames),
    quarantined: job.quarantined
      .map(({ path: found, reason }) => ({
        path: joinPath(path, belowJob(found, job.path)),
        reason,
      }))
      .toSorted((a, b) => compareNames(a.path, b.path)),
  };
}

/** No folder of the machine stands in a published card. */
function belowJob(path: string, jobPath: string): string {
  return path.startsWith(`${jobPath}/`) ? path.slice(jobPath.length + 1) : path;
}

/** Where the tasks came from, when all came from one place; told per task by path alone where not. */
function commonSource({ evidence }: ReportJob): ResultSource | null {
  const sources = [...evidence.values()].flatMap(({ source }) => source ?? []);
  const [first] = sources;
  if (first === undefined) return null;
  const isCommon = sources.every(
    ({ repo, resolved_sha: sha, dirty }) =>
      repo === first.repo && sha === first.resolved_sha && dirty === first.dirty,
  );
  return isCommon ? { ...first, path: commonFolder(sources.map(({ path }) => path)) } : null;
}

function commonFolder(paths: readonly string[]): string {
  const [first = [], ...others] = paths.map((path) => path.split("/").slice(0, -1));
  const differs = first.findIndex((part, at) => others.some((other) => other[at] !== part));
  return first.slice(0, differs === -1 ? first.length : differs).join("/");
}

function sealRoot(
  jobs: readonly ReportJob[],
  options: GroupOptions,
  sha256: Sha256,
): RunCard["seals"] {
  const attempts = jobs.flatMap(({ job, evidence }) =>
    [...evidence].map(([rolloutName, { sealSha256 }]) => ({
      path: joinPath(options.pathOf(job.path), rolloutName),
      sealSha256,
    })),
  );
  const ordered = attempts.toSorted((a, b) => compareNames(a.path, b.path));
  const lines = ordered.flatMap(({ path, sealSha256 }) =>
    sealSha256 === null ? [] : [`${sealSha256}  ${path}\n`],
  );
  return {
    root_sha256: sha256(lines.join("")),
    sealed: lines.length,
    unsealed: ordered.filter(({ sealSha256 }) => sealSha256 === null).map(({ path }) => path),
  };
}
