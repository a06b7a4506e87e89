/** The library (design 11): run evaluations, read their results. */
export {
  Evaluation,
  EvaluationConfig,
  type EvaluationConfigInput,
  type EvaluationOptions,
  type EvaluationResult,
} from "./evaluation.ts";
export { loadJob } from "../stores/job-reader/load-job.ts";
export type { LoadedJob, LoadedJobs } from "../core/results/loaded-job.ts";
export type { Trial } from "../core/results/group-trials.ts";
export type { TrialRecord } from "../core/model/record.ts";
export type { Outcome } from "../core/model/outcome.ts";
export type { RunEvent } from "../core/events/run-event.ts";
export { BenchError, type ErrorKind } from "../core/errors.ts";
