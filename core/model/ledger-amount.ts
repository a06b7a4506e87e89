import * as z from "zod";

/**
 * What a pot counts, each in whole units, so that no rounding ever makes or loses any: millionths of
 * a US dollar, model tokens, milliseconds of sandbox life, attempts started (spec 5.5).
 */
export const LEDGER_UNITS = ["microUsd", "tokens", "sandboxMs", "rollouts"] as const;

export const LedgerUnit = z.enum(LEDGER_UNITS);
export type LedgerUnit = z.infer<typeof LedgerUnit>;

/**
 * The balance of a unit that has no cap: spent and counted like any other, and never short. Large
 * enough for any sweep (a thousand million dollars), small enough that sums stay exact.
 */
export const UNCAPPED = 2 ** 50;

const Whole = z.int().min(0).max(UNCAPPED);

/** So much of each unit; 0 where it does not matter. */
export const Amount = z.object({
  microUsd: Whole,
  tokens: Whole,
  sandboxMs: Whole,
  rollouts: Whole,
});
export type Amount = z.infer<typeof Amount>;

/** What is left of each unit. Below 0 only after a cap was lowered or a figure passed its reservation. */
export const Balance = z.object({
  microUsd: z.int(),
  tokens: z.int(),
  sandboxMs: z.int(),
  rollouts: z.int(),
});
export type Balance = z.infer<typeof Balance>;

/** The most that one command may spend, over all its trials and resumes; null for no limit. */
export const Caps = z.object({
  microUsd: Whole.nullable(),
  tokens: Whole.nullable(),
  sandboxMs: Whole.nullable(),
  rollouts: Whole.nullable(),
});
export type Caps = z.infer<typeof Caps>;
