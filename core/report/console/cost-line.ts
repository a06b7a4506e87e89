import type { JobTrials } from "../../results/group-trials.ts";
import { allAttempts } from "../../results/group-trials.ts";
import { costOf, type Spend, sumSpend } from "../../results/sum-spend.ts";
import { formatCount, formatDollars } from "./format-amounts.ts";

/**
 * What every attempt of the job cost, thrown away ones included (spec 2.8). An unknown price is said
 * to be unknown and never shown as $0.00.
 */
export function renderCost(job: JobTrials): string {
  const { killedAttempts: killed } = job;
  const spend = sumSpend(allAttempts(job), killed);
  // Calls that were charged in full, since nobody told what they used, leave no tokens but a cost.
  if (spend.costUsd === 0 && spend.uncountedAttempts === 0 && spend.totalTokens === 0) {
    return "none: no model tokens were used";
  }
  if (killed > 0) return renderAtLeast(spend, job);
  const tokens =
    spend.totalTokens === null ? "tokens not reported" : `${formatCount(spend.totalTokens)} tokens`;
  if (spend.costUsd === null || (spend.costUsd === 0 && spend.unpricedAttempts > 0)) {
    return `not reported in USD (subscription logins and unpriced models report tokens only), ${tokens}`;
  }
  const unpriced = job.trials.filter(({ attempts }) =>
    attempts.some(({ usage }) => costOf(usage) === null),
  ).length;
  const rest =
    unpriced === 0 ? "" : ` (${unpriced} of ${job.trials.length} trials reported no cost)`;
  return `${formatDollars(spend.costUsd)}, ${tokens}${rest}`;
}

/** What was counted, beside attempts that ended before anyone could count them. */
function renderAtLeast({ costUsd, totalTokens }: Spend, job: JobTrials): string {
  const { unreadableAttempts: unreadable = 0 } = job;
  const killed = job.killedAttempts - unreadable;
  const rest = [
    ...(killed === 0 ? [] : [`${attemptsOf(killed, "killed ")} left no count`]),
    ...(unreadable === 0 ? [] : [`${attemptsOf(unreadable)} left none that can be trusted`]),
  ].join(", ");
  if (totalTokens === null || totalTokens === 0) return `unknown (${rest})`;
  const dollars =
    costUsd === null || costUsd === 0 ? "not reported in USD" : `>=${formatDollars(costUsd)}`;
  return `${dollars}, >=${formatCount(totalTokens)} tokens (${rest})`;
}

function attemptsOf(count: number, kind = ""): string {
  return count === 1 ? `1 ${kind}attempt` : `${count} ${kind}attempts`;
}
