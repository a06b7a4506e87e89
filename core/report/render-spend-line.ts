import type { CardGroup, CardSpend } from "../model/run-card.ts";
import { formatCount, formatDollars } from "./console/format-amounts.ts";

/** `Tokens 45,342; cost $0.00; trial time 29 to 29 s, 0 trial-minutes in all.` (spec 1.10). */
export function renderSpendLine({ spend, time }: CardGroup): string {
  const tokens = `Tokens ${renderTokens(spend)}`;
  return `${tokens}; cost ${renderCostStatus(spend)}; ${renderTime(time)}.`;
}

export function renderTokens({
  total_tokens: tokens,
  uncounted_attempts: rest,
}: CardSpend): string {
  if (tokens === null) return "unknown";
  return `${rest > 0 ? "at least " : ""}${formatCount(tokens)}`;
}

/** The cost with how sure it is: a sum over attempts of which some have no price is at least so much. */
export function renderCostStatus(spend: CardSpend): string {
  const { cost_usd: cost, unpriced_attempts: unpriced, cost_status: status } = spend;
  if (cost === null || (cost === 0 && unpriced > 0)) return "unknown, since no price was known";
  const reserved = status.reserved ?? 0;
  const doubts = [
    ...(unpriced > 0 ? [`${unpriced} of ${spend.attempts} attempts have no price`] : []),
    ...(reserved > 0
      ? [`${reserved} attempts are charged with all that they might have cost`]
      : []),
  ];
  const shown = `${unpriced > 0 ? "at least " : ""}${formatDollars(cost)}`;
  return doubts.length === 0 ? shown : `${shown} (${doubts.join("; ")})`;
}

function renderTime(time: CardGroup["time"]): string {
  const { shortest_sec: shortest, longest_sec: longest, total_sec: total } = time;
  if (shortest === null || longest === null || total === null) return "trial time unknown";
  const [from, to, minutes] = [shortest, longest, total / 60].map(Math.round);
  return `trial time ${from} to ${to} s, ${minutes} trial-minutes in all`;
}
