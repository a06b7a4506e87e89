import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { amountOf } from "../../../core/ledger/amounts.ts";
import { NO_CAPS } from "../../../core/ledger/caps.ts";
import { simulateSweep } from "./simulate-sweep.ts";
import { findBreaches, type Sweep } from "./sweep.ts";

/** A sweep that nothing is kind to, different in every respect for every seed. */
function anySweep(seed: number): Sweep {
  const generator = xoroshiro128plus(seed);
  const int = (low: number, high: number): number => uniformInt(generator, low, high);
  const share = (...percents: readonly number[]): number =>
    (percents[int(0, percents.length - 1)] ?? 0) / 100;
  const trials = int(2, 9);
  const worst = amountOf({ microUsd: int(0, 300), tokens: int(0, 300) });
  const capOf = (each: number): number | null =>
    int(0, 3) === 0 ? null : int(0, 4 * trials * each);
  const caps = {
    ...NO_CAPS,
    microUsd: capOf(worst.microUsd),
    tokens: capOf(worst.tokens),
    rollouts: int(0, 3) === 0 ? int(0, trials + 1) : null,
  };
  const raised = (cap: number | null): number | null => (cap === null ? null : cap + int(0, 500));
  return {
    seed,
    trials,
    width: int(1, 6),
    shardWidth: [1, 64, 100][int(0, 2)] ?? 1,
    caps,
    raise:
      int(0, 2) === 0
        ? {
            atMs: int(0, 3000),
            caps: { ...caps, microUsd: raised(caps.microUsd), tokens: raised(caps.tokens) },
          }
        : null,
    trialCaps: int(0, 3) === 0 ? { ...NO_CAPS, microUsd: int(1, 3) * worst.microUsd } : NO_CAPS,
    weather: {
      lostAnswers: share(0, 2, 10),
      failures: share(0, 0, 3),
      duplicates: share(0, 5, 20),
      tornReads: share(0, 20, 60),
    },
    calls: [1, int(1, 7)],
    lanes: int(1, 3),
    worst,
    actualPercent: [int(0, 60), int(60, 100)],
    callMs: [10, int(10, 500)],
    deaths: share(0, 30, 80),
    lostUsage: share(0, 5, 20),
    retries: int(0, 2),
  };
}

/** What so many sweeps, one a seed, came to. */
export interface Soak {
  /** Each with its seed; none where every promise was kept. */
  readonly breaches: readonly string[];
  /** The most that the providers took beyond a cap, in each unit, over all sweeps. */
  readonly overshoot: {
    readonly micro_usd: number;
    readonly tokens: number;
    readonly rollouts: number;
  };
  /** Writes that happened twice. */
  readonly doubled: number;
  /** How the attempts ended: all kinds, or the sweeps would show little. */
  readonly attempts: Record<"scored" | "refused" | "failed" | "lost" | "running", number>;
  readonly writes: number;
  readonly virtualHours: number;
}

/** Runs one sweep a seed, one after the other. */
export async function soakSweeps({
  firstSeed,
  sweeps,
}: {
  readonly firstSeed: number;
  readonly sweeps: number;
}): Promise<Soak> {
  const breaches: string[] = [];
  const attempts = { scored: 0, refused: 0, failed: 0, lost: 0, running: 0 };
  const overshoot = { micro_usd: 0, tokens: 0, rollouts: 0 };
  const sums = { doubled: 0, writes: 0, elapsedMs: 0 };
  for (let seed = firstSeed; seed < firstSeed + sweeps; seed += 1) {
    const result = await simulateSweep(anySweep(seed));
    for (const breach of findBreaches(result)) breaches.push(`seed ${String(seed)}: ${breach}`);
    for (const { outcome } of result.attempts.values()) attempts[outcome] += 1;
    overshoot.micro_usd = Math.max(overshoot.micro_usd, result.overshoot.microUsd);
    overshoot.tokens = Math.max(overshoot.tokens, result.overshoot.tokens);
    overshoot.rollouts = Math.max(overshoot.rollouts, result.overshoot.rollouts);
    sums.doubled += result.doubled;
    sums.writes += result.writes;
    sums.elapsedMs += result.elapsedMs;
  }
  const { doubled, writes, elapsedMs } = sums;
  return { breaches, overshoot, doubled, attempts, writes, virtualHours: elapsedMs / 3_600_000 };
}
