/**
 * `part` of `whole` as percent text with one decimal, `66.7%`, halves away from zero. 0.0% and
 * 100.0% only when it is exactly so: 9,999 of 10,000 is 99.9%. Computed in whole numbers, so that no
 * rounding error decides. `-` when there is nothing to take a share of.
 */
export function formatPercent(part: number, whole: number): string {
  if (whole === 0) return "-";
  const tenths = roundShare(part, whole, 1000);
  return `${Math.floor(tenths / 10)}.${tenths % 10}%`;
}

/** The same as whole percents, `33%`; `<1%` and `>99%` where the whole number would claim all or none. */
export function formatWholePercent(part: number, whole: number): string {
  if (whole === 0) return "-";
  const percent = Math.floor((200 * part + whole) / (2 * whole));
  if (percent === 0 && part > 0) return "<1%";
  if (percent === 100 && part < whole) return ">99%";
  return `${percent}%`;
}

/** `part / whole` in units of `1 / units`, never rounded to none or all. */
function roundShare(part: number, whole: number, units: number): number {
  const rounded = Math.floor((2 * units * part + whole) / (2 * whole));
  if (rounded === 0 && part > 0) return 1;
  return rounded === units && part < whole ? units - 1 : rounded;
}

/**
 * A reward with two decimals, `0.67`. A reward that is not 0 or 1 is never shown as one of them:
 * 0.999 is `0.99`.
 */
export function formatReward(reward: number): string {
  const rounded = reward.toFixed(2);
  if (reward < 1 && rounded === "1.00") return "0.99";
  if (reward > 1 && rounded === "1.00") return "1.01";
  if (reward > 0 && rounded === "0.00") return "0.01";
  if (reward < 0 && rounded === "-0.00") return "-0.01";
  return rounded;
}
