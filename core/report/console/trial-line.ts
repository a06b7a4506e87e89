import type { TrialRecord } from "../../model/record.ts";
import { classifyTrial } from "../../results/classify-trial.ts";
import type { TrialClass } from "../../results/classify-trial.ts";
import { formatReward } from "../../results/format-share.ts";
import { showCut, showSafely } from "./safe-text.ts";

const MARKS: Record<TrialClass, string> = {
  passed: "PASS",
  failed: "FAIL",
  errored: "ERR",
  verifier_errored: "ERR",
  stopped: "STOP",
};

const MAX_ERROR_LENGTH = 50;
/** What stopped a trial is told with its figures whole. */
const MAX_STOP_LENGTH = 160;

/**
 * The line of an ended trial (spec 2.8): `[PASS] half-life (reward=1.00, tools=13)`. A trial without
 * a score has no reward in it, and every error is told, cut at 50 characters.
 */
export function renderTrialLine(record: TrialRecord): string {
  const kind = classifyTrial(record);
  const { outcome } = record;
  const reward = outcome.kind === "scored" ? `reward=${formatReward(outcome.reward)}, ` : "";
  const error = errorText(record);
  const most = kind === "stopped" ? MAX_STOP_LENGTH : MAX_ERROR_LENGTH;
  const tail = error === null ? "" : ` (${showCut(error, most)})`;
  return `[${MARKS[kind]}] ${showSafely(record.taskName)} (${reward}tools=${record.toolCalls})${tail}`;
}

function errorText(record: TrialRecord): string | null {
  if (record.outcome.kind === "scored") return record.error?.message ?? null;
  return record.error?.message ?? record.verifierError?.message ?? record.outcome.detail;
}
