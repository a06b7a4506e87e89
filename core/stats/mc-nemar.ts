/**
 * McNemar's exact two-sided p value (1947) for two settings with one trial a task: of the tasks that
 * only one of them passed, `first` by the one and `second` by the other;
 * `min(1, 2 Σ_{i≤min} C(n,i) / 2^n)`, n = first + second. Under six such tasks nothing is significant.
 * Not for several trials a task (use `signFlipTest` on the differences of means).
 */
export function mcNemarTest(first: number, second: number): number {
  const discordant = first + second;
  const least = Math.min(first, second);
  let choose = 1n;
  let sum = 0n;
  for (let i = 0; i <= least; i += 1) {
    sum += choose;
    choose = (choose * BigInt(discordant - i)) / BigInt(i + 1);
  }
  return Math.min(1, ratioOfPowers(2n * sum, discordant));
}

/** `whole / 2^power` of whole numbers too large for a double. */
function ratioOfPowers(whole: bigint, power: number): number {
  const excess = Math.max(0, whole.toString(2).length - 60);
  return Number(whole >> BigInt(excess)) * 2 ** (excess - power);
}
