import type { MixedImage } from "../model/summary.ts";
import { compareNames } from "../plan/compare-names.ts";
import { groupBy } from "../plan/group-by.ts";
import type { JobTrials, Trial } from "./group-trials.ts";

/**
 * The tasks whose scores were taken on images that differ (attack 24): the same build context gives
 * another image when a base image or a package moved on in between, and such scores do not measure
 * one thing. By task name, over every scored attempt of the jobs; an unknown digest tells nothing.
 */
export function mixedImages(jobs: readonly JobTrials[]): MixedImage[] {
  const byTask = groupBy(
    jobs.flatMap((job) => job.trials),
    (trial) => trial.taskName,
  );
  return [...byTask]
    .map(([name, trials]) => ({ task_name: name, image_digests: digestsOf(trials) }))
    .filter(({ image_digests: digests }) => digests.length > 1)
    .toSorted((a, b) => compareNames(a.task_name, b.task_name));
}

function digestsOf(trials: readonly Trial[]): string[] {
  const digests = trials
    .flatMap(({ record, duplicates }) => [record, ...duplicates])
    .flatMap(({ outcome, isolation }) =>
      outcome.kind === "scored" ? (isolation?.image_digest ?? []) : [],
    );
  return [...new Set(digests)].toSorted(compareNames);
}
