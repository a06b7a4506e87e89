import type { CardControl } from "../model/run-card.ts";
import { compareNames } from "../plan/compare-names.ts";
import { groupBy } from "../plan/group-by.ts";
import { mayEqual } from "../plan/trial-version.ts";
import type { Trial } from "../results/group-trials.ts";
import type { ReportJob } from "./report-job.ts";

/**
 * What oracle and nop did on the tasks of the scores, at the same versions: without them a score
 * cannot be told from a broken task. Several runs of a control on a task agree, or it is unexpected.
 */
export function summarizeControls(
  controls: readonly ReportJob[],
  measured: readonly ReportJob[],
): CardControl[] {
  const wanted = versionsOf(measured);
  return KINDS.flatMap((control) => {
    const own = controls.filter(({ job }) => job.control === control);
    return own.length === 0 ? [] : toControl(control, own, wanted);
  });
}

const KINDS = ["oracle", "empty"] as const;

/** Known digests of each task. */
type Versions = ReadonlyMap<string, readonly string[]>;

/** The versions of the tasks that scores were taken on, or were to be. */
function versionsOf(jobs: readonly ReportJob[]): Versions {
  const tasks = jobs.flatMap(({ job }) => [
    ...job.trials.map(({ taskName: name, record }) => ({ name, digest: record.taskDigest })),
    ...(job.planned?.tasks.filter(({ name }) => job.neverStarted.includes(name)) ?? []),
  ]);
  const byName = groupBy(tasks, ({ name }) => name);
  return new Map(
    [...byName]
      .toSorted(([a], [b]) => compareNames(a, b))
      .map(([name, versions]) => [name, versions.flatMap(({ digest }) => digest ?? [])]),
  );
}

function toControl(
  control: "oracle" | "empty",
  jobs: readonly ReportJob[],
  wanted: Versions,
): CardControl {
  const trials = jobs.flatMap(({ job }) => job.trials).filter((trial) => isWanted(trial, wanted));
  const byTask = groupBy(trials, ({ taskName }) => taskName);
  const verdicts = [...byTask].map(([name, runs]) => ({ name, verdict: verdictOf(runs) }));
  const named = (wish: (verdict: Verdict) => boolean): string[] =>
    verdicts
      .filter(({ verdict }) => wish(verdict))
      .map(({ name }) => name)
      .toSorted(compareNames);
  const expected = control === "oracle" ? "passed" : "failed";
  return {
    control,
    tasks: byTask.size,
    scored: named((verdict) => verdict !== "unscored").length,
    passed: named((verdict) => verdict === "passed").length,
    unexpected: named((verdict) => verdict !== expected && verdict !== "unscored"),
    unscored: named((verdict) => verdict === "unscored"),
    missing: [...wanted.keys()].filter((name) => !byTask.has(name)),
  };
}

/** Where no score is measured, every task of the controls is. */
function isWanted({ taskName, record }: Trial, wanted: Versions): boolean {
  if (wanted.size === 0) return true;
  const digests = wanted.get(taskName);
  if (digests === undefined) return false;
  return digests.length === 0 || digests.some((digest) => mayEqual(record.taskDigest, digest));
}

type Verdict = "passed" | "failed" | "mixed" | "unscored";

function verdictOf(runs: readonly Trial[]): Verdict {
  const passes = runs.flatMap(({ record: { outcome } }) =>
    outcome.kind === "scored" ? [outcome.passed] : [],
  );
  if (passes.length === 0) return "unscored";
  if (passes.every(Boolean)) return "passed";
  return passes.some(Boolean) ? "mixed" : "failed";
}
