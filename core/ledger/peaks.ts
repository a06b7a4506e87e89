import type { Amount, LedgerUnit } from "../model/ledger-amount.ts";
import type { Change } from "../model/ledger-update.ts";
import type { PotShard } from "../model/ledger-pot.ts";
import { add } from "./updates.ts";

const SAMPLED: readonly LedgerUnit[] = ["microUsd", "tokens", "sandboxMs"];

/** Bits of a figure that are kept: bounds lie at most 1/16 above it. */
const KEPT = 16;

/** Trials of a setting that have to end before their figures are taken for the others' (attack 1). */
export const ENOUGH_SAMPLES = 20;

/** Counts one ended trial's peak, as changes of its shard. */
export function countPeak(setting: string, peak: Amount): Change[] {
  return [
    ...add(["samples", setting], 1),
    ...SAMPLED.flatMap((unit) => add(["peaks", `${setting}|${unit}|${roundUp(peak[unit])}`], 1)),
  ];
}

export function countSamples(shards: readonly PotShard[], setting: string): number {
  return shards.reduce((sum, { samples }) => sum + (samples[setting] ?? 0), 0);
}

/**
 * What 95 of 100 trials of the setting needed at most (nearest rank, rounded up by at most 1/16): the
 * largest seen while there are fewer than 20, 0 when there is none.
 */
export function highPeak(shards: readonly PotShard[], setting: string, unit: LedgerUnit): number {
  const counts = new Map<number, number>();
  for (const { peaks } of shards) {
    for (const [name, count] of Object.entries(peaks)) {
      const prefix = `${setting}|${unit}|`;
      if (!name.startsWith(prefix)) continue;
      const bound = Number(name.slice(prefix.length));
      counts.set(bound, (counts.get(bound) ?? 0) + count);
    }
  }
  const ascending = [...counts].toSorted(([one], [other]) => one - other);
  const total = ascending.reduce((sum, [, count]) => sum + count, 0);
  let rank = Math.ceil(0.95 * total);
  for (const [bound, count] of ascending) {
    rank -= count;
    if (rank <= 0) return bound;
  }
  return 0;
}

/** The figure with its first five binary digits, rounded up: few distinct values over any range. */
function roundUp(figure: number): number {
  let step = 1;
  while (figure >= 2 * KEPT * step) step *= 2;
  return Math.ceil(figure / step) * step;
}
