import { amountOf, covers, plus } from "../../../core/ledger/amounts.ts";
import { sumPot } from "../../../core/ledger/sum-pot.ts";
import type { Amount, Caps } from "../../../core/model/ledger-amount.ts";
import type { AttemptRecord, PotView } from "../../../core/model/ledger-pot.ts";
import type { Weather } from "./virtual-world.ts";

/** One sweep: trials that make calls, in processes that die, over a table that answers badly. */
export interface Sweep {
  readonly seed: number;
  readonly trials: number;
  /** Runners at a time; `shardWidth` makes as many shards as that width would have. */
  readonly width: number;
  readonly shardWidth: number;
  readonly caps: Caps;
  /** A cap that replaces the first after so many milliseconds. */
  readonly raise: { readonly atMs: number; readonly caps: Caps } | null;
  readonly trialCaps: Caps;
  readonly weather: Weather;
  /** Model calls of one trial, one after the other in `lanes` at a time. */
  readonly calls: readonly [number, number];
  readonly lanes: number;
  readonly worst: Amount;
  /** Share of its worst case that a call costs, in percent. */
  readonly actualPercent: readonly [number, number];
  readonly callMs: readonly [number, number];
  /** Share of runners that die somewhere in the middle. */
  readonly deaths: number;
  /** Share of calls whose usage never comes, or comes after the trial's end. */
  readonly lostUsage: number;
  readonly retries: number;
}

export interface AttemptTruth {
  /** What the provider really took. */
  spent: Amount;
  /** Every figure arrived, and the runner closed the attempt itself. */
  isExact: boolean;
  died: boolean;
  outcome: "running" | "scored" | "refused" | "failed" | "lost";
}

export interface SweepResult {
  readonly attempts: ReadonlyMap<string, AttemptTruth>;
  readonly records: ReadonlyMap<string, AttemptRecord>;
  readonly view: PotView;
  /** What the provider took in all, at most at any time, beyond the caps of that time. */
  readonly overshoot: Amount;
  /** Moments at which the table did not add up. */
  readonly unbalanced: number;
  readonly doubled: number;
  readonly writes: number;
  /** Of the second with the most. */
  readonly writesInBusiestSecond: number;
  readonly elapsedMs: number;
  readonly scored: number;
  readonly spent: Amount;
  /** The most that ran at a time. */
  readonly widest: number;
}

/** Why a result breaks what the ledger promises; empty when it keeps it. */
export function findBreaches(result: SweepResult): string[] {
  const breaches: string[] = [];
  const { attempts, records, view, overshoot, unbalanced, doubled } = result;
  const nothing = amountOf({});
  if (!covers(nothing, overshoot)) breaches.push(`overshoot ${JSON.stringify(overshoot)}`);
  if (unbalanced > 0) breaches.push(`${String(unbalanced)} moments did not add up`);
  if (doubled > 0) breaches.push(`${String(doubled)} writes happened twice`);
  let charged = nothing;
  for (const [attempt, truth] of attempts) {
    const record = records.get(attempt);
    if (record?.state !== "ended") breaches.push(`${attempt} is ${record?.state ?? "unknown"}`);
    const spent = record?.spent ?? nothing;
    charged = plus(charged, spent);
    if (!covers(spent, truth.spent))
      breaches.push(
        `${attempt} charged ${JSON.stringify(spent)} of ${JSON.stringify(truth.spent)}`,
      );
    if (truth.isExact && truth.outcome !== "failed" && !covers(truth.spent, spent))
      breaches.push(`${attempt} overcharged ${JSON.stringify(spent)}`);
  }
  const totals = sumPot(view);
  if (!covers(totals.settled, charged) || !covers(charged, totals.settled))
    breaches.push("settled is not the sum over the attempts");
  if (!covers(nothing, plus(totals.earmarked, totals.leased))) breaches.push("money is still held");
  if (view.shards.some(({ waiting, open }) => waiting !== 0 || open !== 0))
    breaches.push("someone still waits");
  return breaches;
}

export const CALM: Weather = { lostAnswers: 0, failures: 0, duplicates: 0, tornReads: 0 };
