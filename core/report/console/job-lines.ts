import type { TrialRecord } from "../../model/record.ts";
import { lackedTool, lostProcesses } from "../../outcome/doubts.ts";
import {
  classifyTrial,
  errorCategoryOf,
  ranOutOfTime,
  verifierCategoryOf,
} from "../../results/classify-trial.ts";
import { countTrials } from "../../results/count-trials.ts";
import { formatPercent, formatReward, formatWholePercent } from "../../results/format-share.ts";
import type { JobTrials } from "../../results/group-trials.ts";
import { isSuspect, lostToVerifier } from "../../results/trial-doubts.ts";

interface Warning {
  readonly phrase: string;
  readonly tail: string;
  readonly concerns: (record: TrialRecord) => boolean;
}

/** Kinds of failure that a reader of the numbers must know of, in the contract's order (spec 1.6), then ours. */
const WARNINGS: readonly Warning[] = [
  {
    phrase: "hit idle timeout",
    tail: "check idle_timeout_info in result.json for diagnostics",
    concerns: (record) => errorCategoryOf(record) === "idle_timeout",
  },
  {
    phrase: "hit agent wall-clock timeout",
    tail: "error in result.json has the cause (agent_timeout_info has details when set)",
    concerns: ranOutOfTime,
  },
  {
    phrase: "failed during sandbox startup",
    tail: "check sandbox_startup_info in result.json for diagnostics",
    concerns: (record) => errorCategoryOf(record) === "sandbox_setup",
  },
  {
    phrase: "lost transport (pipe closed / rc=255)",
    tail: "check transport_error_info in result.json for diagnostics",
    concerns: (record) => errorCategoryOf(record) === "pipe_closed",
  },
  {
    phrase: "had verifier timeouts",
    tail: "check verifier_timeout_info in result.json for diagnostics",
    concerns: (record) => verifierCategoryOf(record) === "verifier_timeout",
  },
  {
    phrase: "failed on provider API errors",
    tail: "check api_error_info in result.json for diagnostics",
    concerns: (record) => errorCategoryOf(record) === "api_error",
  },
  {
    phrase: "ended with zero model/tool activity (suspected provider api error)",
    tail: "check suspected_api_error_info in result.json for diagnostics",
    concerns: (record) => errorCategoryOf(record) === "suspected_api_error",
  },
  {
    phrase: "had verifier errors",
    tail: "check verifier scripts for bugs",
    concerns: (record) => classifyTrial(record) === "verifier_errored",
  },
  {
    phrase: "lost attempts or test runs to their verifier",
    tail: "verification in result.json counts them",
    concerns: lostToVerifier,
  },
  {
    phrase: "are suspect: their agent may have tampered with what judges it",
    tail: "isolation.hardening in result.json says how; no score was changed",
    concerns: isSuspect,
  },
  {
    phrase: "scored 0 with a verifier that could not find or install a tool",
    tail: "check verifier/test-stdout.txt",
    concerns: lackedTool,
  },
  {
    phrase: "scored 0 after processes that they left running were ended",
    tail: "a task's tests have to start the services that they ask",
    concerns: lostProcesses,
  },
];

/** Above this share of verifier errors the score says more about the verifiers than the agent. */
const UNRELIABLE_SHARE = 0.2;

/**
 * What the log says when a job ends (spec 1.6, 2.8): one warning line for each kind of failure that
 * occurred, then `Job complete: …`.
 */
export function renderJobLines(job: JobTrials, elapsedSec: number): string[] {
  const counts = countTrials([job]);
  const { passed, total, errored, verifierErrored, idleTimeouts, meanReward } = counts;
  const mean = meanReward === null ? "" : `mean_reward=${formatReward(meanReward)}, `;
  return [
    ...WARNINGS.flatMap((warning) => renderWarning(warning, job, total)),
    ...(verifierErrored > total * UNRELIABLE_SHARE
      ? ["More than 20% of tasks had verifier errors: results may be unreliable"]
      : []),
    `Job complete: ${passed}/${total} (${formatPercent(passed, total)}), ${mean}` +
      `errors=${errored}, idle_timeouts=${idleTimeouts}, time=${(elapsedSec / 60).toFixed(1)}min`,
  ];
}

function renderWarning(warning: Warning, job: JobTrials, total: number): string[] {
  const { length: count } = job.trials.filter(({ record }) => warning.concerns(record));
  if (count === 0) return [];
  return [
    `${count} tasks (${formatWholePercent(count, total)}) ${warning.phrase} — ${warning.tail}`,
  ];
}
