import type { TrialRecord } from "../model/record.ts";
import { stampMs } from "./local-stamp.ts";

/**
 * Seconds in which at least one attempt was running: the union of their spans, so that the pause
 * between a run and its resume does not count. Attempts without readable stamps are left out.
 */
export function elapsedSecOf(records: readonly TrialRecord[]): number {
  const spans = records.flatMap((record) => {
    const [from, to] = [stampMs(record.startedAt), stampMs(record.finishedAt)];
    return from === null || to === null || to < from ? [] : [{ from, to }];
  });
  let busyMs = 0;
  let reached = -Infinity;
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    busyMs += Math.max(0, to - Math.max(from, reached));
    reached = Math.max(reached, to);
  }
  return busyMs / 1000;
}
