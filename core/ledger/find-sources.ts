import { LEDGER_UNITS } from "../model/ledger-amount.ts";
import type { Amount, LedgerUnit } from "../model/ledger-amount.ts";
import type { PotShard } from "../model/ledger-pot.ts";
import { NOTHING, plus } from "./amounts.ts";

/** Money for one purpose, taken from one shard and, where that has too little, from others. */
export interface Sources {
  readonly shard: number;
  readonly own: Amount;
  readonly donors: readonly { readonly shard: number; readonly amount: Amount }[];
}

/**
 * Where to take `amount` from for a lease in `shard`; null when all shards together have too little.
 * The fullest give first, so that few have to.
 */
export function findSources(
  shards: readonly PotShard[],
  shard: number,
  amount: Amount,
): Sources | null {
  const taken = new Map<number, Amount>();
  for (const unit of LEDGER_UNITS) {
    let missing = amount[unit];
    for (const from of [shard, ...others(shards, shard, unit)]) {
      const part = Math.min(missing, Math.max(0, shards[from]?.remaining[unit] ?? 0));
      if (part === 0) continue;
      missing -= part;
      taken.set(from, plus(taken.get(from) ?? NOTHING, { ...NOTHING, [unit]: part }));
    }
    if (missing > 0) return null;
  }
  const own = taken.get(shard) ?? NOTHING;
  taken.delete(shard);
  return { shard, own, donors: [...taken].map(([from, part]) => ({ shard: from, amount: part })) };
}

function others(shards: readonly PotShard[], shard: number, unit: LedgerUnit): number[] {
  const balances = shards.map(({ remaining }) => remaining[unit]);
  return [...balances.keys()]
    .filter((from) => from !== shard)
    .toSorted((one, other) => (balances[other] ?? 0) - (balances[one] ?? 0));
}
