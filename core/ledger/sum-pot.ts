import type { Amount, Balance } from "../model/ledger-amount.ts";
import type { Lease, PotView, Stop } from "../model/ledger-pot.ts";
import { plus } from "./amounts.ts";

/** An open attempt, with where it lies. */
export interface LeaseEntry {
  readonly attempt: string;
  readonly shard: number;
  readonly lease: Lease;
}

/** A pot's money, summed over its shards. The four add up to the cap in every unit, always. */
export interface PotTotals {
  readonly remaining: Balance;
  /** Set aside for open attempts, not yet to be spent. */
  readonly earmarked: Amount;
  /** May be spent, or is being spent. */
  readonly leased: Amount;
  /** Spent for certain. */
  readonly settled: Amount;
}

export function sumPot(view: PotView): PotTotals {
  const leases = leasesOf(view).map(({ lease }) => lease);
  return {
    remaining: plus(...view.shards.map(({ remaining }) => remaining)),
    earmarked: plus(...leases.map(({ earmarked }) => earmarked)),
    leased: plus(...leases.map(({ leased }) => leased)),
    settled: plus(
      ...view.shards.map(({ settled }) => settled),
      ...leases.map(({ settled }) => settled),
    ),
  };
}

/** All that may still be spent by anyone: what remains, and what open attempts may give back. */
export function spendable(view: PotView): Balance {
  const { remaining, earmarked, leased } = sumPot(view);
  return plus(remaining, earmarked, leased);
}

/** The open attempts in the order in which they are served: by the plan, then by name. */
export function leasesOf({ shards }: PotView): LeaseEntry[] {
  return shards
    .flatMap(({ leases }, shard) =>
      Object.entries(leases).map(([attempt, lease]) => ({ attempt, shard, lease })),
    )
    .toSorted((one, other) => {
      const byOrder = one.lease.order - other.lease.order;
      return byOrder === 0 ? (one.attempt < other.attempt ? -1 : 1) : byOrder;
    });
}

/** A stop that any shard has heard of stops all. */
export function stopOf({ head, shards }: PotView): Stop | null {
  return head.stop ?? shards.find(({ stop }) => stop !== undefined)?.stop ?? null;
}

/** A text that differs whenever a lease, an attempt or the caps changed: nothing moved while it stays. */
export function progressOf(view: PotView): string {
  const leases = leasesOf(view);
  const steps = leases.reduce((sum, { lease }) => sum + lease.seq, 0);
  const marked = leases.filter(({ lease }) => lease.ending !== undefined).length;
  const ended = view.shards.reduce((sum, shard) => sum + shard.ended, 0);
  return [view.head.version, leases.length, steps, marked, ended].join(".");
}
