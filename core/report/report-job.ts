import type { Evaluation } from "../model/evaluation.ts";
import type { Sampling } from "../model/exchange.ts";
import type { BudgetSummary } from "../model/ledger-budget.ts";
import type { ModelCalls } from "../model/model-calls.ts";
import type { ResultSource } from "../model/trial-result.ts";
import type { LoadedJob } from "../results/loaded-job.ts";

/** Requests of each trial that the Sampling line counts (spec 1.10). */
export const SAMPLED_REQUESTS = 20;

/** What an attempt's files tell a report beside its record; null where they do not. */
export interface AttemptEvidence {
  /** Name and version of the tool that ran it. */
  readonly tool: string | null;
  readonly agentLimitSec: number | null;
  readonly source: ResultSource | null;
  /** The proxy's account of the model requests. */
  readonly modelCalls: ModelCalls | null;
  /** Of the first requests that went upstream; null where requests were not recorded. */
  readonly sampling: readonly Sampling[] | null;
  /** Why the last main reply stopped. */
  readonly stopReason: string | null;
  /** sha256 of seal.json; null for an attempt without one. */
  readonly sealSha256: string | null;
}

export const NO_EVIDENCE: AttemptEvidence = {
  tool: null,
  agentLimitSec: null,
  source: null,
  modelCalls: null,
  sampling: null,
  stopReason: null,
  sealSha256: null,
};

/** A job as a report reads it. */
export interface ReportJob {
  readonly job: LoadedJob;
  readonly evaluation: Evaluation | null;
  /** `budget` of its summary.json: the pot is counted by the ledger, not by the trials. */
  readonly budget: BudgetSummary | null;
  /** File name to sha256 of the job's own files. */
  readonly files: Readonly<Record<string, string>>;
  /** Of every attempt with a folder, by its name. */
  readonly evidence: ReadonlyMap<string, AttemptEvidence>;
}

export function evidenceOf(job: ReportJob, rolloutName: string): AttemptEvidence {
  return job.evidence.get(rolloutName) ?? NO_EVIDENCE;
}
