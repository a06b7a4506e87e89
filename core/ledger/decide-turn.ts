import type { Amount, LedgerUnit } from "../model/ledger-amount.ts";
import type { PotView } from "../model/ledger-pot.ts";
import { shortUnit } from "./amounts.ts";
import { findSources } from "./find-sources.ts";
import type { Sources } from "./find-sources.ts";
import { leasesOf, spendable } from "./sum-pot.ts";
import type { LeaseEntry } from "./sum-pot.ts";

export interface TurnQuestion {
  readonly attempt: string;
  readonly shard: number;
  /** What the call lacks. */
  readonly take: Amount;
  /** The call's worst case. */
  readonly need: Amount;
}

export type TurnDecision =
  | { readonly kind: "serve"; readonly sources: Sources }
  | { readonly kind: "wait"; readonly position: number }
  | { readonly kind: "refused"; readonly unit: LedgerUnit };

/**
 * Whether a running trial gets what its next call lacks. Those that wait are served in plan order, so
 * that the oldest ends first; a call is refused once all that remains and all that anyone might give
 * back cannot cover it (design 12).
 */
export function decideTurn(view: PotView, question: TurnQuestion): TurnDecision {
  const missing = shortUnit(spendable(view), question.need);
  if (missing !== null) return { kind: "refused", unit: missing };
  const position = waitersBefore(view, question.attempt);
  const sources = position > 0 ? null : findSources(view.shards, question.shard, question.take);
  return sources === null ? { kind: "wait", position } : { kind: "serve", sources };
}

/** The open trial that is last in the plan and has not been told to end (attack 12). */
export function youngestTrial(view: PotView): LeaseEntry | null {
  return leasesOf(view).findLast(({ lease }) => lease.ending === undefined) ?? null;
}

/** Milliseconds without any movement in the pot after which the youngest trial ends. */
export const STALL_LIMIT_MS = 60_000;

/** Trials that wait and are served before this one. */
function waitersBefore(view: PotView, attempt: string): number {
  const served = leasesOf(view);
  const at = served.findIndex((entry) => entry.attempt === attempt);
  return served.slice(0, at).filter(({ lease }) => lease.wants !== undefined).length;
}
