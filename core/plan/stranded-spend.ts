import type { TrialRecord } from "../model/record.ts";
import { recordsOf } from "./earlier-job.ts";
import type { EarlierJob } from "./earlier-job.ts";

export interface StrandedSpend {
  readonly scored: number;
  readonly planned: number;
  /** What it cost so far, for people. */
  readonly spent: string;
  /** What all of it would cost again, as a bracket for people; empty where no price is known. */
  readonly startingOver: string;
}

/**
 * What would be thrown away if a job were left behind: null when it is finished or when nothing that
 * costs was spent on it, as with the controls (attack 6).
 */
export function strandedSpend(job: EarlierJob): StrandedSpend | null {
  const records = recordsOf(job);
  const costUsd = sum(records, ({ usage }) => usage.costUsd);
  const tokens = sum(records, ({ usage }) => usage.totalTokens);
  if (costUsd === 0 && tokens === 0) return null;
  const scored = new Set(
    records.filter(({ outcome }) => outcome.kind === "scored").map(({ taskName }) => taskName),
  );
  const planned = new Set(
    job.evaluation?.tasks?.map(({ name }) => name) ??
      (job.attempts ?? []).map(({ taskName }) => taskName),
  );
  const scoredCount = [...planned].filter((name) => scored.has(name)).length;
  if (scoredCount === planned.size) return null;
  const perTrialUsd = costUsd / Math.max(1, records.length);
  const amounts = [
    ...(costUsd > 0 ? [`$${costUsd.toFixed(2)}`] : []),
    ...(tokens > 0 ? [`${tokens.toLocaleString("en-US")} tokens`] : []),
  ];
  return {
    scored: scoredCount,
    planned: planned.size,
    spent: `${amounts.join(" and ")} spent`,
    startingOver:
      costUsd > 0 ? ` (about $${(perTrialUsd * planned.size).toFixed(2)} for all of it)` : "",
  };
}

function sum(
  records: readonly TrialRecord[],
  amountOf: (record: TrialRecord) => number | null,
): number {
  return records.reduce((total, record) => total + (amountOf(record) ?? 0), 0);
}
