/** A task's scored trials, and how many of them passed. */
export interface TaskTally {
  readonly trials: number;
  readonly passes: number;
}

/**
 * Chance that at least one of `k` trials passes: 1 - C(n-c,k)/C(n,k), without bias for any k up to n
 * (Chen et al. 2021). Null when there are fewer than `k` trials: it cannot be told then, and is
 * neither 0 nor 1.
 */
export function passAtK({ trials, passes }: TaskTally, k: number): number | null {
  if (trials < k) return null;
  if (trials - passes < k) return 1;
  if (k === 1) return passes / trials;
  let allFail = 1;
  for (let index = trials - passes + 1; index <= trials; index += 1) allFail *= 1 - k / index;
  return 1 - allFail;
}

/** Chance that all of `k` trials pass: C(c,k)/C(n,k) (Yao et al. 2024, pass^k). Null as above. */
export function passHatK({ trials, passes }: TaskTally, k: number): number | null {
  if (trials < k) return null;
  if (passes < k) return 0;
  let allPass = 1;
  for (let index = 0; index < k; index += 1) allPass *= (passes - index) / (trials - index);
  return allPass;
}

/** The k of a report: 1, the powers of 2 and the multiples of 5 up to `most` (spec 12.6). */
export function listKs(most: number): number[] {
  const ks = new Set<number>();
  for (let power = 1; power <= most; power *= 2) ks.add(power);
  for (let multiple = 5; multiple <= most; multiple += 5) ks.add(multiple);
  return [...ks].toSorted((a, b) => a - b);
}
