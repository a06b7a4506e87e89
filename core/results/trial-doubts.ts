import type { TrialRecord } from "../model/record.ts";
import type { SuspectTrial } from "../model/summary.ts";
import type { JobTrials } from "./group-trials.ts";
import { allAttempts } from "./group-trials.ts";

/**
 * The trials whose agent may have tampered with what judges it, by the evidence of the attempt that
 * counts, in order of their names. No score is changed by it.
 */
export function suspectTrials(jobs: readonly JobTrials[]): SuspectTrial[] {
  return jobs.flatMap(({ trials }) =>
    trials.flatMap(({ record }) => {
      const hardening = record.isolation?.hardening ?? null;
      if (hardening === null || !isSuspect(record)) return [];
      const { suspects, more_suspects: more } = hardening;
      const { taskName: task_name, rolloutName: rollout_name } = record;
      return [{ task_name, rollout_name, suspects, more_suspects: more }];
    }),
  );
}

export function isSuspect({ isolation }: TrialRecord): boolean {
  return isolation?.hardening?.integrity === "suspect";
}

/** Whether the verifier failed before on this trial, so that an attempt, or a run of the tests, was lost. */
export function lostToVerifier({ verification, outcome, verifierError }: TrialRecord): boolean {
  const own = outcome.kind === "unscored" && verifierError !== null ? 1 : 0;
  return (verification?.failures ?? 0) > own;
}

/** Attempts of the job that their verifier left without a verdict, those that were made up for included. */
export function attemptsLostToVerifier(job: JobTrials): number {
  return allAttempts(job).filter(
    ({ outcome, verifierError }) => outcome.kind === "unscored" && verifierError !== null,
  ).length;
}
