import { LEDGER_UNITS } from "../model/ledger-amount.ts";
import type { Amount, Balance, LedgerUnit } from "../model/ledger-amount.ts";

export function mapUnits(valueOf: (unit: LedgerUnit) => number): Balance {
  return {
    microUsd: valueOf("microUsd"),
    tokens: valueOf("tokens"),
    sandboxMs: valueOf("sandboxMs"),
    rollouts: valueOf("rollouts"),
  };
}

export const NOTHING: Amount = mapUnits(() => 0);

export function amountOf(parts: Partial<Amount>): Amount {
  return { ...NOTHING, ...parts };
}

export function plus(...amounts: readonly Balance[]): Balance {
  return mapUnits((unit) => amounts.reduce((sum, amount) => sum + amount[unit], 0));
}

export function minus(from: Balance, ...amounts: readonly Balance[]): Balance {
  const sum = plus(...amounts);
  return mapUnits((unit) => from[unit] - sum[unit]);
}

/** What of `wanted` goes beyond `have`, per unit. */
export function beyond(wanted: Balance, have: Balance): Amount {
  return mapUnits((unit) => Math.max(0, wanted[unit] - have[unit]));
}

export function smaller(one: Balance, other: Balance): Balance {
  return mapUnits((unit) => Math.min(one[unit], other[unit]));
}

export function larger(one: Balance, other: Balance): Balance {
  return mapUnits((unit) => Math.max(one[unit], other[unit]));
}

export function times(count: number, amount: Amount): Amount {
  return mapUnits((unit) => count * amount[unit]);
}

export function isNothing(amount: Balance): boolean {
  return LEDGER_UNITS.every((unit) => amount[unit] === 0);
}

/** The first unit in which `have` is not enough; null when it covers all. */
export function shortUnit(have: Balance, need: Balance): LedgerUnit | null {
  return LEDGER_UNITS.find((unit) => have[unit] < need[unit]) ?? null;
}

export function covers(have: Balance, need: Balance): boolean {
  return shortUnit(have, need) === null;
}
