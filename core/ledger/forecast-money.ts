import type { Amount, Caps } from "../model/ledger-amount.ts";
import type { BudgetSummary } from "../model/ledger-budget.ts";
import type { PotView } from "../model/ledger-pot.ts";
import type { RunMoney } from "../model/run-money.ts";
import type { PriceCard } from "../model/usage-price.ts";
import { NOTHING } from "./amounts.ts";
import { capFigures, summarizeBudget } from "./summarize-budget.ts";
import { sumPot } from "./sum-pot.ts";

export interface MoneyQuestion {
  readonly caps: Caps;
  /** `--max-cost-per-trial`, in micro-dollars. */
  readonly trialCap: number | null;
  readonly pot: { readonly name: string; readonly ofJob: string; readonly view: PotView } | null;
  readonly uncountedJob: string | null;
  /** The model that trials call, with its price where one is known; null for a control. */
  readonly model: { readonly name: string; readonly card: PriceCard | null } | null;
  /** What one trial needs to start. */
  readonly least: Amount;
}

const NANO_USD = 1_000_000_000;
const MICRO_USD = 1_000_000;

/** What a command would spend from, at which prices, and the most that one of its trials could use. */
export function forecastMoney(question: MoneyQuestion): RunMoney {
  const { caps, trialCap, pot, uncountedJob, model } = question;
  return {
    caps: { ...capFigures(caps), max_cost_per_trial_usd: usdOf(trialCap) },
    pot: pot === null ? null : potFigures(pot),
    uncounted_job: uncountedJob,
    prices: model === null ? [] : [priceOf(model)],
    trial: model === null ? null : trialOf(question, model.card),
  };
}

function potFigures({ name, ofJob, view }: NonNullable<MoneyQuestion["pot"]>): RunMoney["pot"] {
  const budget: BudgetSummary = summarizeBudget({
    view,
    refusedUnit: null,
    cancelled: [],
    notStarted: [],
  });
  return { name, of_job: ofJob, spent: budget.spent, held: budget.held };
}

function priceOf({ name, card }: NonNullable<MoneyQuestion["model"]>): RunMoney["prices"][number] {
  if (card === null) return { model: name, source: null, date: null, usd_per_million: null };
  const { input, output } = card.now.base;
  const usd_per_million = { input: input / NANO_USD, output: output / NANO_USD };
  return { model: name, source: card.source, date: card.date, usd_per_million };
}

/** What open attempts hold may come back, so only what is spent for certain is taken off the caps. */
function trialOf(
  { caps, trialCap, pot, least }: MoneyQuestion,
  card: PriceCard | null,
): RunMoney["trial"] {
  const spent = pot === null ? NOTHING : sumPot(pot.view).settled;
  const left = (unit: "microUsd" | "tokens"): number | null => {
    const cap = caps[unit];
    return cap === null ? null : Math.max(0, cap - spent[unit]);
  };
  const potLeft = left("microUsd");
  const isOwn = trialCap !== null && trialCap <= (potLeft ?? trialCap);
  const limit = isOwn ? trialCap : potLeft;
  return {
    starts_with: {
      cost_usd: card === null ? null : least.microUsd / MICRO_USD,
      tokens: least.tokens,
      sandbox_seconds: least.sandboxMs / 1000,
    },
    at_most: { cost_usd: usdOf(limit), tokens: left("tokens") },
    limited_by: limit === null ? null : isOwn ? "--max-cost-per-trial" : "--max-cost-usd",
  };
}

function usdOf(microUsd: number | null): number | null {
  return microUsd === null ? null : microUsd / MICRO_USD;
}
