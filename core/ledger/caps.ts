import { BenchError } from "../errors.ts";
import { LEDGER_UNITS, UNCAPPED } from "../model/ledger-amount.ts";
import type { Amount, Caps, LedgerUnit } from "../model/ledger-amount.ts";
import { mapUnits } from "./amounts.ts";

/** The caps of a command as they were typed: dollars, tokens, seconds, attempts; null for none. */
export interface CapFlags {
  readonly maxCostUsd: number | null;
  readonly maxTokens: number | null;
  readonly maxSandboxSeconds: number | null;
  readonly maxRollouts: number | null;
}

export const NO_CAPS: Caps = { microUsd: null, tokens: null, sandboxMs: null, rollouts: null };

/**
 * Caps in the pot's units, fractions rounded down, so that a cap never grows. 0 is a cap: it spends
 * nothing (failures C-34). Throws `BenchError` (`usage`) for what is negative, no number or too large.
 */
export function parseCaps(flags: CapFlags): Caps {
  return {
    microUsd: parseCap("--max-cost-usd", flags.maxCostUsd, 1e6),
    tokens: parseCap("--max-tokens", flags.maxTokens, 1),
    sandboxMs: parseCap("--max-sandbox-seconds", flags.maxSandboxSeconds, 1000),
    rollouts: parseCap("--max-rollouts", flags.maxRollouts, 1),
  };
}

/** Whether any cap was given, 0 included. */
export function hasCaps(flags: CapFlags): boolean {
  return cappedUnits(parseCaps(flags)).length > 0;
}

/** `--max-cost-per-trial` in millionths of a dollar. */
export function parseTrialCap(maxCostPerTrialUsd: number | null): number | null {
  return parseCap("--max-cost-per-trial", maxCostPerTrialUsd, 1e6);
}

export function cappedUnits(caps: Caps): LedgerUnit[] {
  return LEDGER_UNITS.filter((unit) => caps[unit] !== null);
}

/** Caps as balances that a pot starts with. */
export function balanceOf(caps: Caps): Amount {
  return mapUnits((unit) => caps[unit] ?? UNCAPPED);
}

function parseCap(flag: string, value: number | null, unitsPerOne: number): number | null {
  if (value === null) return null;
  // A decimal is written back first: 0.29 dollars are 290,000 millionths, not 289,999.
  const units = Math.floor(Number((value * unitsPerOne).toPrecision(15)));
  if (value >= 0 && units <= UNCAPPED) return units;
  const rule = value < 0 ? "a cap is 0 (spend nothing) or more" : "no such amount can be counted";
  throw new BenchError("usage", `${flag} ${String(value)}: ${rule}`, {
    next: `give ${flag} a number of 0 or more, or leave it out for no cap`,
  });
}
