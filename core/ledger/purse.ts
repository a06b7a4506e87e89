import type { Amount, Caps, LedgerUnit } from "../model/ledger-amount.ts";
import type { Anomaly, Lease } from "../model/ledger-pot.ts";
import type { OpenLease, Sizing } from "../model/ledger-request.ts";
import {
  NOTHING,
  beyond,
  isNothing,
  larger,
  mapUnits,
  minus,
  plus,
  shortUnit,
  smaller,
  times,
} from "./amounts.ts";
import { leaseCalls } from "./lease-size.ts";

/**
 * One trial's money as its runner knows it: the lease, and the calls that are open on it. What is
 * leased is what was spent and not yet reported, the open calls' worst cases, and what is spare. Plain data; every function returns a new one.
 */
export interface Purse {
  readonly attempt: string;
  readonly shard: number;
  readonly capped: readonly LedgerUnit[];
  readonly sizing: Sizing;
  /** `--max-cost-per-trial` and its like. */
  readonly trialCaps: Caps;
  readonly lease: Lease;
  /** All that was spent; `lease.settled` of it is known to the ledger. */
  readonly spent: Amount;
  /** Worst case of each call whose usage has not arrived; it stays charged in full if it never does. */
  readonly calls: ReadonlyMap<string, Amount>;
  /** The most that was spent and reserved at one time. */
  readonly peak: Amount;
}

/**
 * The purse of a lease as the ledger has it. A new one holds the start alone, which is spent by now. A
 * lease that worked before was its runner's, which has restarted: what it holds may have been spent, so
 * it stays charged.
 */
export function openPurse(open: OpenLease, trialCaps: Caps): Purse {
  const { attempt, shard, capped, sizing, lease } = open;
  const isNew = lease.seq === 0;
  const spent = isNew ? plus(lease.settled, lease.leased) : lease.settled;
  const calls = isNew || isNothing(lease.leased) ? [] : [[ADOPTED, lease.leased] as const];
  return {
    attempt,
    shard,
    capped,
    sizing,
    trialCaps,
    lease,
    spent,
    calls: new Map(calls),
    peak: spent,
  };
}

const ADOPTED = "before the restart";

/** What was spent and the ledger does not know of yet. */
export function unreportedOf({ spent, lease }: Purse): Amount {
  return minus(spent, lease.settled);
}

/** The open calls' worst cases together. */
export function reservedOf({ calls }: Purse): Amount {
  return plus(...calls.values());
}

/** Leased, and in nobody's use. */
export function spareOf(purse: Purse): Amount {
  return minus(purse.lease.leased, unreportedOf(purse), reservedOf(purse));
}

export type CallDecision =
  | { readonly kind: "open"; readonly purse: Purse }
  /** The lease is too small: so much more is needed, from the earmark and from the pot. */
  | { readonly kind: "draw"; readonly fromEarmark: Amount; readonly fromPot: Amount }
  /** The trial's own cap: `full` for good, or until open calls turn out cheaper. */
  | { readonly kind: "limit"; readonly unit: LedgerUnit; readonly full: boolean };

/** Whether a call may be made whose cost is `worst` at most; it is open from then on. */
export function openCall(purse: Purse, call: string, worst: Amount): CallDecision {
  const limit = limitOf(purse, worst);
  if (limit !== null) return limit;
  const spare = spareOf(purse);
  const lacking = beyond(worst, spare);
  if (!isNothing(lacking)) return { kind: "draw", ...drawFor(purse, worst, lacking) };
  const calls = new Map([...purse.calls, [call, worst]]);
  const peak = larger(purse.peak, plus(purse.spent, ...calls.values()));
  return { kind: "open", purse: { ...purse, calls, peak } };
}

export interface SettledCall {
  readonly purse: Purse;
  /** The figure passed its reservation; null in good order. */
  readonly anomaly: Anomaly | null;
}

/**
 * A call's usage arrived: what it reserved beyond that is spare again. A call that is not open
 * changes nothing, so that nothing is settled twice.
 */
export function settleCall(purse: Purse, call: string, actual: Amount): SettledCall {
  const reserved = purse.calls.get(call);
  if (reserved === undefined) return { purse, anomaly: null };
  const calls = new Map(purse.calls);
  calls.delete(call);
  const settled = { ...purse, calls, spent: plus(purse.spent, actual) };
  const unit = shortUnit(reserved, actual);
  if (unit === null) return { purse: settled, anomaly: null };
  const { attempt } = purse;
  const detail = `a call of ${attempt} took ${actual[unit]} ${unit}, above its reservation of ${reserved[unit]}`;
  return { purse: settled, anomaly: { attempt, reserved, actual, detail } };
}

/** What the lease lacks for what was spent and the calls that are open: after an anomaly only. */
export function deficitOf(purse: Purse): Amount {
  return beyond(plus(unreportedOf(purse), reservedOf(purse)), purse.lease.leased);
}

/** What a step of the lease moved, as the ledger did it. */
export interface LeaseMove {
  readonly did: Lease["did"];
  /** Leased to settled. */
  readonly settle?: Amount;
  /** Earmarked to leased. */
  readonly fromEarmark?: Amount;
  /** Remaining to leased. */
  readonly fromPot?: Amount;
  readonly giveEarmark?: Amount;
  readonly giveLeased?: Amount;
}

/** The purse after the ledger took a step; calls may have been settled while it was under way. */
export function moveLease(purse: Purse, move: LeaseMove): Purse {
  const { settle = NOTHING, fromEarmark = NOTHING, fromPot = NOTHING } = move;
  const { giveEarmark = NOTHING, giveLeased = NOTHING } = move;
  const { lease } = purse;
  return {
    ...purse,
    lease: {
      ...lease,
      seq: lease.seq + 1,
      did: move.did,
      earmarked: minus(lease.earmarked, fromEarmark, giveEarmark),
      leased: minus(plus(lease.leased, fromEarmark, fromPot), settle, giveLeased),
      settled: plus(lease.settled, settle),
    },
  };
}

/**
 * A whole lease as far as the earmark has it, so that the next calls need not ask; of what the earmark
 * lacks only what this call needs, but for units that have no cap and are never short.
 */
function drawFor(
  purse: Purse,
  worst: Amount,
  lacking: Amount,
): { fromEarmark: Amount; fromPot: Amount } {
  const calls = leaseCalls(purse.sizing, worst, purse.capped);
  const whole = larger(lacking, beyond(times(calls, worst), spareOf(purse)));
  const fromEarmark = smaller(whole, purse.lease.earmarked);
  const fromPot = mapUnits((unit) => {
    const wanted = purse.capped.includes(unit) ? lacking[unit] : whole[unit];
    return Math.max(0, wanted - fromEarmark[unit]);
  });
  return { fromEarmark, fromPot };
}

function limitOf(purse: Purse, worst: Amount): CallDecision | null {
  const caps = mapUnits((unit) => purse.trialCaps[unit] ?? Number.MAX_SAFE_INTEGER);
  const full = shortUnit(caps, plus(purse.spent, worst));
  if (full !== null) return { kind: "limit", unit: full, full: true };
  const unit = shortUnit(caps, plus(purse.spent, reservedOf(purse), worst));
  return unit === null ? null : { kind: "limit", unit, full: false };
}
