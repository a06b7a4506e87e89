import type { Denominators } from "../model/job-view.ts";
import { exactMean } from "../stats/exact-sum.ts";
import { classifyTrial, controlOf, errorCategoryOf, ranOutOfTime } from "./classify-trial.ts";
import { rewardsOf } from "./count-trials.ts";
import type { Trial } from "./group-trials.ts";
import { ratio } from "./ratio.ts";
import type { TrialRecord } from "../model/record.ts";

export type Execution = "completed" | "errored" | "timed_out" | "integration_failed";

/** How the agent's work ended, whatever it was worth (spec 12.5). */
export function executionOf(record: TrialRecord): Execution {
  const category = errorCategoryOf(record);
  if (category === "agent_integration") return "integration_failed";
  if (ranOutOfTime(record) || category === "idle_timeout") return "timed_out";
  const unscoredByAgent = category !== null && category !== "no_verdict";
  return unscoredByAgent || classifyTrial(record) === "stopped" ? "errored" : "completed";
}

export type Assessment = "scored" | "error" | "unscored";

/** Whether there is a verdict, and whether it is the verifier's failure that there is none. */
export function assessmentOf(record: TrialRecord): Assessment {
  const kind = classifyTrial(record);
  if (kind === "passed" || kind === "failed") return "scored";
  return kind === "verifier_errored" ? "error" : "unscored";
}

/** The denominators of a set of trials (spec 12.5). Stopped trials were not attempted to the end. */
export function denominatorsOf(trials: readonly Trial[], withControls: boolean): Denominators {
  const wanted = trials.filter(({ record }) => withControls || controlOf(record.agent) === null);
  const counted = wanted.filter(({ record }) => classifyTrial(record) !== "stopped");
  const records = counted.map((trial) => trial.record);
  const count = (holds: (record: TrialRecord) => boolean): number => records.filter(holds).length;
  const scored = count((record) => assessmentOf(record) === "scored");
  const passed = count((record) => classifyTrial(record) === "passed");
  const clean = records.filter(
    (record) => assessmentOf(record) === "scored" && executionOf(record) === "completed",
  );
  const cleanPassed = clean.filter((record) => classifyTrial(record) === "passed").length;
  return {
    attempted: counted.length,
    scored,
    assessment_errors: count((record) => assessmentOf(record) === "error"),
    unscored: count((record) => assessmentOf(record) === "unscored"),
    execution_errors: count((record) => executionOf(record) !== "completed"),
    integration_failures: count((record) => executionOf(record) === "integration_failed"),
    passed,
    mean_reward: exactMean(rewardsOf(counted)),
    pass_rate_scored: ratio(passed, scored),
    pass_rate_attempted: ratio(passed, counted.length),
    clean_scored: clean.length,
    clean_passed: cleanPassed,
    pass_rate_clean: ratio(cleanPassed, clean.length),
    controls_excluded: trials.length - wanted.length,
  };
}
