/** A duration as the final block shows it: `29s`, `15m 29s`, `1h 2m`. */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}m ${whole % 60}s`;
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

/** A whole number with commas between thousands: `1,704,360`. */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US", { maximumFractionDigits: 0 });
}

/** Dollars with two decimals; an amount that is not 0 is never shown as $0.00. */
export function formatDollars(amountUsd: number): string {
  if (amountUsd > 0 && amountUsd < 0.005) return "<$0.01";
  const [whole = "0", cents = "00"] = amountUsd.toFixed(2).split(".");
  return `$${formatCount(Number(whole))}.${cents}`;
}
