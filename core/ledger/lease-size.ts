import type { Amount, LedgerUnit } from "../model/ledger-amount.ts";
import type { Sizing } from "../model/ledger-request.ts";

/**
 * Writes a second of all leases together. A pot is to bear less than 200 (design 8); the other half is
 * for trials that start and end, and for seconds that are busier than others.
 */
const WRITES_PER_SECOND = 100;

/** Model calls a second of one trial, taken high: an agent with parallel side requests. */
const CALLS_PER_SECOND = 1;

/** While the pot holds more than this many full rounds of leases, they have their full size. */
const ROUNDS_AHEAD = 4;

/**
 * Model calls that one lease should cover: few enough writes at any width, one call at a time in a
 * narrow run, and down to one call again when the pot runs low, so that a lost runner takes little
 * money with it.
 */
export function leaseCalls(
  { width, remaining }: Sizing,
  callWorst: Amount,
  capped: readonly LedgerUnit[],
): number {
  const forWidth = Math.ceil((width * CALLS_PER_SECOND) / WRITES_PER_SECOND);
  const affordable = capped
    .filter((unit) => callWorst[unit] > 0)
    .map((unit) => Math.floor(remaining[unit] / (ROUNDS_AHEAD * width * callWorst[unit])));
  return Math.max(1, Math.min(forWidth, ...affordable));
}
