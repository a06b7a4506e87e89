import type { TrialRecord } from "../model/record.ts";
import type { PhaseTimes } from "../model/summary.ts";
import { exactMean, exactSum, sumCounts } from "../stats/exact-sum.ts";
import { largest, ratio } from "./ratio.ts";
import { toTenths } from "./timing.ts";

/** The keys of summary.json about what the agents did and how long the trials took (spec 1.9). */
export function summarizeActivity(records: readonly TrialRecord[]) {
  const tools = records.map((record) => record.toolCalls);
  const trajectories = records.flatMap((record) => record.trajectory ?? []);
  const steps = trajectories.map((trajectory) => trajectory.steps);
  const toolSteps = trajectories.map((trajectory) => trajectory.toolCallSteps);
  const timed = records.filter((record) => record.timing["total"] !== undefined);
  return {
    total_tool_calls: sumCounts(tools),
    avg_tool_calls_per_task: exactMean(tools) ?? 0,
    max_tool_calls_per_task: largest(tools),
    total_trajectory_steps: sumCounts(steps),
    avg_trajectory_steps_per_task: exactMean(steps) ?? 0,
    max_trajectory_steps_per_task: largest(steps),
    total_trajectory_tool_call_steps: sumCounts(toolSteps),
    avg_trajectory_tool_call_steps_per_task: exactMean(toolSteps) ?? 0,
    max_trajectory_tool_call_steps_per_task: largest(toolSteps),
    trajectory_summary_coverage: ratio(trajectories.length, records.length) ?? 0,
    timing_coverage: ratio(timed.length, records.length) ?? 0,
    ...phaseTimes(records),
  };
}

function phaseTimes(records: readonly TrialRecord[]): PhaseTimes {
  const setup = spread(records, "environment_setup");
  const agentSetup = spread(records, "agent_setup");
  const execution = spread(records, "agent_execution");
  const verifier = spread(records, "verifier");
  const total = spread(records, "total");
  return {
    environment_setup_time_sec: setup.sum,
    avg_environment_setup_time_sec: setup.mean,
    max_environment_setup_time_sec: setup.most,
    agent_setup_time_sec: agentSetup.sum,
    avg_agent_setup_time_sec: agentSetup.mean,
    max_agent_setup_time_sec: agentSetup.most,
    agent_execution_time_sec: execution.sum,
    avg_agent_execution_time_sec: execution.mean,
    max_agent_execution_time_sec: execution.most,
    verifier_time_sec: verifier.sum,
    avg_verifier_time_sec: verifier.mean,
    max_verifier_time_sec: verifier.most,
    total_time_sec: total.sum,
    avg_total_time_sec: total.mean,
    max_total_time_sec: total.most,
  };
}

interface Spread {
  readonly sum: number;
  readonly mean: number | null;
  readonly most: number | null;
}

/** Over the trials that ran the phase, in tenths of a second. */
function spread(records: readonly TrialRecord[], phase: string): Spread {
  const seconds = records.flatMap((record) => record.timing[phase] ?? []);
  const mean = exactMean(seconds);
  return {
    sum: toTenths(exactSum(seconds)),
    mean: mean === null ? null : toTenths(mean),
    most: mean === null ? null : toTenths(largest(seconds)),
  };
}
