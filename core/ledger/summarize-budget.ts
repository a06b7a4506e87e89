import { type Balance, type Caps, LEDGER_UNITS, type LedgerUnit } from "../model/ledger-amount.ts";
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
  /** How much of it that trial needed to start; absent where nobody knows. */
  readonly refusedNeed?: number;
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
  const next = nextTrialOf(question, totals);
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
    ...(next === undefined ? {} : { next_trial: next }),
  };
}

/**
 * The console's `Budget:` line with what a person has to know beside it; none without a cap, unless
 * something stopped the pot. The line of a budget that stopped trials is the contract's (spec 5.5).
 */
export function budgetLines(budget: BudgetSummary): string[] {
  const line = stopLine(budget) ?? spentLine(budget);
  if (line === null) return [];
  return [line, ...anomalyLine(budget), ...nextTrialLine(budget), ...killedLine(budget)];
}

function stopLine({ reason, cancelled, not_started }: BudgetSummary): string | null {
  if (reason === null) return null;
  const name = reason.startsWith(ANOMALY) ? "Stopped" : "Budget";
  const counts = `${cancelled.length} running trial(s) cancelled, ${not_started.length} not started`;
  return `${name}: ${reason}; ${counts} (not counted as failures; resume the job to run them)`;
}

/** Where to look: prices, or a provider's counting, are not what the caps are counted by. */
function anomalyLine({ reason, anomalies }: BudgetSummary): string[] {
  const [first] = anomalies;
  if (reason === null || !reason.startsWith(ANOMALY) || first === undefined) return [];
  return [`  see trajectory/requests.jsonl of ${first.attempt}; its real figure is charged`];
}

/** Of every cap, with what is spent of it. */
function spentLine({ caps, spent }: BudgetSummary): string | null {
  const amounts: Record<LedgerUnit, readonly [number, number | null]> = {
    microUsd: [
      toMicro(spent.cost_usd),
      caps.max_cost_usd === null ? null : toMicro(caps.max_cost_usd),
    ],
    tokens: [spent.tokens, caps.max_tokens],
    sandboxMs: [
      Math.round(spent.sandbox_seconds * 1000),
      caps.max_sandbox_seconds === null ? null : Math.round(caps.max_sandbox_seconds * 1000),
    ],
    rollouts: [spent.rollouts, caps.max_rollouts],
  };
  const texts = LEDGER_UNITS.flatMap((unit) => {
    const [used, cap] = amounts[unit];
    return cap === null ? [] : [describeSpent(unit, used, cap)];
  });
  return texts.length === 0 ? null : `Budget: ${texts.join(", ")}`;
}

const toMicro = (usd: number): number => Math.round(usd * 1_000_000);

const FLAGS: Record<LedgerUnit, string> = {
  microUsd: "--max-cost-usd",
  tokens: "--max-tokens",
  sandboxMs: "--max-sandbox-seconds",
  rollouts: "--max-rollouts",
};

/** Money may remain where trials did not start: one more of them may need more than that. */
function nextTrialLine({ next_trial: next }: BudgetSummary): string[] {
  if (next === undefined) return [];
  const { spent: left, limit: need } = DESCRIBE[next.unit](next.left, next.need);
  return [`  left: ${left}; one more trial may need ${need}: raise ${FLAGS[next.unit]}`];
}

function killedLine({ spent }: BudgetSummary): string[] {
  // Beside these, dollars are unknown of models without a price too.
  const { tokens_unknown_trials: killed } = spent;
  if (killed === 0) return [];
  return [`  ${killed} attempt(s), killed or cut off, are charged all that they might have spent`];
}

/** What kept a trial from starting, where it is the cap's rest and not the cap itself. */
function nextTrialOf(
  question: BudgetQuestion,
  { remaining }: PotTotals,
): BudgetSummary["next_trial"] {
  const { refusedUnit: unit, refusedNeed: need = 0, notStarted } = question;
  if (unit === null || unit === "rollouts" || notStarted.length === 0) return undefined;
  const left = Math.max(0, remaining[unit]);
  return need > left ? { unit, need, left } : undefined;
}

/** No cap was reached: a provider's figure is not what was reserved for it. */
const ANOMALY = "usage above its reservation: ";

function reasonOf(
  { view, refusedUnit, cancelled, notStarted }: BudgetQuestion,
  totals: PotTotals,
): string | null {
  const stop = stopOf(view);
  if (stop?.kind === "anomaly") return `${ANOMALY}${stop.reason}`;
  if (cancelled.length + notStarted.length === 0) return null;
  const unit = refusedUnit ?? tightestUnit(view.head.caps, totals);
  const cap = unit === null ? null : view.head.caps[unit];
  if (unit === null || cap === null) return null;
  return `budget reached: ${describeSpent(unit, totals.settled[unit], cap)}`;
}

/** Contract: `200 tokens spent of a 150 cap`. */
function describeSpent(unit: LedgerUnit, used: number, cap: number): string {
  const { spent, limit } = DESCRIBE[unit](used, cap);
  return `${spent} spent of a ${limit} cap`;
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
export function formatUsd(microUsd: number): string {
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

/** Caps as summary.json has them. */
export function capFigures(caps: Caps): BudgetSummary["caps"] {
  const { microUsd, tokens, sandboxMs, rollouts } = caps;
  return {
    max_cost_usd: microUsd === null ? null : microUsd / 1_000_000,
    max_sandbox_seconds: sandboxMs === null ? null : sandboxMs / 1000,
    max_tokens: tokens,
    max_rollouts: rollouts,
  };
}
