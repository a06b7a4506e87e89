import type { Fault } from "../model/outcome.ts";
import type { Coverage, ScoreViews } from "../model/summary.ts";
import type { Interval } from "../stats/interval.ts";
import { unscoredBounds } from "../stats/unscored-bounds.ts";
import { wilsonInterval } from "../stats/wilson.ts";
import { classifyTrial } from "./classify-trial.ts";
import type { TrialCounts } from "./count-trials.ts";
import type { Trial } from "./group-trials.ts";
import { ratio } from "./ratio.ts";
import { countBy } from "./summarize-trajectory.ts";

/** What became of the planned trials: scored + unscored + stopped + never_started = planned. */
export function summarizeCoverage(counts: TrialCounts, trials: readonly Trial[]): Coverage {
  const scored = counts.passed + counts.failed;
  const faults: Fault[] = trials.flatMap(({ record }) =>
    record.outcome.kind === "unscored" && classifyTrial(record) !== "stopped"
      ? [record.outcome.fault]
      : [],
  );
  return {
    planned: counts.planned,
    scored,
    unscored: faults.length,
    unscored_by_fault: countBy(faults.toSorted()),
    stopped: counts.stopped,
    never_started: counts.neverStarted,
    scored_ratio: ratio(scored, counts.planned),
  };
}

/** Both score views with their bounds (statistics D1, D2, D7): name the one that you quote. */
export function summarizeViews(counts: TrialCounts): ScoreViews {
  const { planned, passed } = counts;
  const scored = passed + counts.failed;
  const bounds = unscoredBounds(passed, scored, planned);
  return {
    scored: {
      passed,
      trials: scored,
      pass_rate: ratio(passed, scored),
      interval_95: toPair(wilsonInterval(passed, scored)),
    },
    planned: {
      passed,
      trials: planned,
      pass_rate: bounds?.lowest ?? null,
      interval_95: toPair(bounds?.interval ?? null),
      lowest: bounds?.lowest ?? null,
      highest: bounds?.highest ?? null,
    },
  };
}

function toPair(interval: Interval | null): [number, number] | null {
  return interval === null ? null : [interval.low, interval.high];
}
