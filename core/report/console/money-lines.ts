import { formatUsd } from "../../ledger/summarize-budget.ts";
import type { RunMoney } from "../../model/run-money.ts";
import { formatCount, formatDuration } from "./format-amounts.ts";
import { showSafely } from "./safe-text.ts";

/** What a dry run says of money: caps, the pot, the prices, and the most that a trial could cost. */
export function renderMoney(money: RunMoney): string[] {
  return [
    `Caps: ${capsOf(money)}`,
    `Pot: ${potOf(money)}`,
    ...money.prices.map((price) => `Price of ${showSafely(price.model)}: ${priceOf(price)}`),
    ...trialLines(money),
  ];
}

function capsOf({ caps, trial }: RunMoney): string {
  const { max_cost_usd: usd, max_tokens: tokens, max_sandbox_seconds: seconds } = caps;
  const texts = [
    ...(usd === null ? [] : [dollars(usd)]),
    ...(tokens === null ? [] : [`${formatCount(tokens)} tokens`]),
    ...(seconds === null ? [] : [`${formatCount(seconds)} sandbox seconds`]),
    ...(caps.max_rollouts === null ? [] : [`${formatCount(caps.max_rollouts)} rollouts`]),
  ];
  const own = caps.max_cost_per_trial_usd;
  const perTrial = own === null ? "" : `; ${dollars(own)} a trial`;
  const whole = texts.length === 0 ? "none for the command" : `${texts.join(", ")} for the command`;
  const free =
    texts.length === 0 && own === null && trial !== null ? ": it may spend any amount" : "";
  return `${whole}${perTrial}${free}`;
}

function potOf({ pot, caps, uncounted_job: uncounted }: RunMoney): string {
  if (pot === null) {
    return uncounted === null
      ? "a new one, nothing spent"
      : `a new one: what job ${showSafely(uncounted)} has spent is not known`;
  }
  const { spent, held } = pot;
  const texts = [
    `${dollars(spent.cost_usd)} and ${formatCount(spent.tokens)} tokens spent`,
    `${formatDuration(spent.sandbox_seconds)} of sandboxes`,
    `${formatCount(spent.rollouts)} attempts`,
    ...(spent.usd_unknown_trials === 0 ? [] : [`${spent.usd_unknown_trials} of unknown cost`]),
    ...(held.cost_usd === 0
      ? []
      : [`${dollars(held.cost_usd)} held by attempts that have not ended`]),
  ];
  const cap = caps.max_cost_usd;
  const left = cap === null ? "" : `; ${dollars(Math.max(0, cap - spent.cost_usd))} left`;
  return `that of job ${showSafely(pot.of_job)}: ${texts.join(", ")}${left}`;
}

function priceOf({ source, date, usd_per_million: rates }: RunMoney["prices"][number]): string {
  if (source === null || rates === null)
    return "unknown, so its cost will not be known (--prices FILE gives one)";
  const from = date === null ? source : `${source}, ${date}`;
  return `$${rates.input} in, $${rates.output} out per million tokens (${showSafely(from)})`;
}

function trialLines({ trial, prices }: RunMoney): string[] {
  if (trial === null) return [];
  const { starts_with: start, at_most: most } = trial;
  const isPriced = prices.every(({ source }) => source !== null);
  const least =
    start.cost_usd === null ? `${formatCount(start.tokens)} tokens` : dollars(start.cost_usd);
  const tokens = most.tokens === null ? "" : `, ${formatCount(most.tokens)} tokens`;
  return [`One trial: starts with ${least}; at most ${dollarLimit(trial, isPriced)}${tokens}`];
}

function dollarLimit(
  { at_most, limited_by }: NonNullable<RunMoney["trial"]>,
  isPriced: boolean,
): string {
  const { cost_usd: usd } = at_most;
  if (usd !== null) return limited_by === null ? dollars(usd) : `${dollars(usd)} (${limited_by})`;
  return isPriced
    ? "any amount of dollars (--max-cost-per-trial sets a limit)"
    : "an unknown amount of dollars";
}

const dollars = (usd: number): string => formatUsd(Math.round(usd * 1_000_000));
