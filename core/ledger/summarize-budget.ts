import type { Balance, Caps, LedgerUnit } from "../model/ledger-amount.ts";
import type { BudgetSummary } from "../model/ledger-budget.ts";
import type { PotView } from "../model/ledger-pot.ts";
import { plus } from "./amounts.ts";
import { cappedUnits } from "./caps.ts";
import { stopOf, sumPot } from "./sum-pot.ts";
import type { PotTotals } from "./sum-pot.ts";

export interface BudgetQuestion {
  readonly view: PotView;
  /** The unit that the first refusal named; null when none did. */
  readonly refusedUnit: LedgerUnit | null;
  /** Names of the job's trials that were stopped while they ran, and that never started. */
  readonly cancelled: readonly string[];
  readonly notStarted: readonly string[];
}

/**
 * summary.json's `budget` (spec 5.5), from the pot's state alone: the same whenever and wherever it is
 * computed. It has stopped when a trial was kept from starting or from going on, or by an anomaly.
 */
export function summarizeBudget(question: BudgetQuestion): BudgetSummary {
  const { view, cancelled, notStarted } = question;
  const totals = sumPot(view);
  const reason = reasonOf(question, totals);
  const unknown = view.shards.map((shard) => shard.unknown);
  return {
    caps: capFigures(view.head.caps),
    spent: {
      ...figuresOf(totals.settled),
      usd_unknown_trials: unknown.reduce((sum, { usd }) => sum + usd, 0),
      tokens_unknown_trials: unknown.reduce((sum, { tokens }) => sum + tokens, 0),
    },
    stopped: reason !== null,
    reason,
    cancelled: [...cancelled],
    not_started: [...notStarted],
    held: figuresOf(plus(totals.earmarked, totals.leased)),
    anomalies: Object.values(view.head.anomalies),
  };
}

/** The console's `Budget:` line; null when the budget stopped nothing. */
export function budgetLine({ reason, cancelled, not_started }: BudgetSummary): string | null {
  if (reason === null) return null;
  const counts = `${cancelled.length} running trial(s) cancelled, ${not_started.length} not started`;
  return `Budget: ${reason}; ${counts} (not counted as failures; resume the job to run them)`;
}

function reasonOf(
  { view, refusedUnit, cancelled, notStarted }: BudgetQuestion,
  totals: PotTotals,
): string | null {
  const stop = stopOf(view);
  if (stop?.kind === "anomaly") return `budget stopped: ${stop.reason}`;
  if (cancelled.length + notStarted.length === 0) return null;
  const unit = refusedUnit ?? tightestUnit(view.head.caps, totals);
  const cap = unit === null ? null : view.head.caps[unit];
  if (unit === null || cap === null) return null;
  const { spent, limit } = DESCRIBE[unit](totals.settled[unit], cap);
  return `budget reached: ${spent} spent of a ${limit} cap`;
}

const DESCRIBE: Record<
  LedgerUnit,
  (spent: number, cap: number) => { readonly spent: string; readonly limit: string }
> = {
  microUsd: (spent, cap) => ({ spent: formatUsd(spent), limit: formatUsd(cap) }),
  tokens: (spent, cap) => ({ spent: `${spent} tokens`, limit: String(cap) }),
  sandboxMs: (spent, cap) => ({
    spent: `${spent / 1000} sandbox seconds`,
    limit: String(cap / 1000),
  }),
  rollouts: (spent, cap) => ({ spent: `${spent} rollouts`, limit: String(cap) }),
};

/**
 * Dollars with cents, rounded down, so that $20.00 is never said of less; under a dollar with as many
 * of the six decimals as there are.
 */
function formatUsd(microUsd: number): string {
  if (microUsd >= 1_000_000) return `$${(Math.floor(microUsd / 10_000) / 100).toFixed(2)}`;
  return `$${(microUsd / 1_000_000).toFixed(6).replace(/0{1,4}$/u, "")}`;
}

/** The capped unit of which the largest share is spent. */
function tightestUnit(caps: Caps, { settled }: PotTotals): LedgerUnit | null {
  const shareOf = (unit: LedgerUnit): number => settled[unit] / Math.max(1, caps[unit] ?? 1);
  const [tightest] = cappedUnits(caps).toSorted((one, other) => shareOf(other) - shareOf(one));
  return tightest ?? null;
}

function figuresOf(amount: Balance): {
  cost_usd: number;
  sandbox_seconds: number;
  tokens: number;
  rollouts: number;
} {
  return {
    cost_usd: amount.microUsd / 1_000_000,
    sandbox_seconds: amount.sandboxMs / 1000,
    tokens: amount.tokens,
    rollouts: amount.rollouts,
  };
}

function capFigures(caps: Caps): BudgetSummary["caps"] {
  const { microUsd, tokens, sandboxMs, rollouts } = caps;
  return {
    max_cost_usd: microUsd === null ? null : microUsd / 1_000_000,
    max_sandbox_seconds: sandboxMs === null ? null : sandboxMs / 1000,
    max_tokens: tokens,
    max_rollouts: rollouts,
  };
}
