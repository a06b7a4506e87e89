import { LEDGER_UNITS } from "../model/ledger-amount.ts";
import type { Amount, Balance, Caps, LedgerUnit } from "../model/ledger-amount.ts";
import type { PotView, Stop } from "../model/ledger-pot.ts";
import type { AdmitRequest } from "../model/ledger-request.ts";
import { NOTHING, amountOf, larger, mapUnits, plus, shortUnit } from "./amounts.ts";
import { cappedUnits } from "./caps.ts";
import { findSources } from "./find-sources.ts";
import type { Sources } from "./find-sources.ts";
import { ENOUGH_SAMPLES, countSamples, highPeak } from "./peaks.ts";
import { leasesOf, spendable, stopOf } from "./sum-pot.ts";

export type AdmissionDecision =
  | {
      readonly kind: "admit";
      readonly earmark: Amount;
      /** What starting costs in itself: a rollout. */
      readonly started: Amount;
      readonly sources: Sources;
    }
  | { readonly kind: "wait"; readonly why: "short" | "learning" | "width" }
  | { readonly kind: "refused"; readonly unit: LedgerUnit }
  | { readonly kind: "stopped"; readonly stop: Stop };

/**
 * Whether a trial may start (attack 1 and 13): only when the pot can set aside what it may need, so
 * that trials do not die together at the cap; while anyone waits for money, nothing new starts.
 */
export function decideAdmission(view: PotView, request: AdmitRequest): AdmissionDecision {
  const stop = stopOf(view);
  if (stop !== null) return { kind: "stopped", stop };
  const earmark = earmarkFor(view, request);
  const started = amountOf({ rollouts: request.least.rollouts });
  // A pot that is overspent in one unit has still enough for a trial that needs nothing of it.
  const missing = shortUnit(larger(spendable(view), NOTHING), plus(earmark, started));
  if (missing !== null) return { kind: "refused", unit: missing };
  if (isLearning(view, request)) return { kind: "wait", why: "learning" };
  const leases = leasesOf(view);
  if (leases.some(({ lease }) => lease.wants !== undefined)) return { kind: "wait", why: "short" };
  if (leases.length >= bearableWidth(spendable(view), view.head.caps, request.least))
    return { kind: "wait", why: "width" };
  const sources = sourcesFor(view, request.attempt, plus(earmark, started));
  if (sources === null) return { kind: "wait", why: "short" };
  return { kind: "admit", earmark, started, sources };
}

/**
 * What is set aside for a trial: its own cap where it has one, else what 95 of 100 trials of its
 * setting needed so far, and never less than its dearest single call. Units without a cap are never
 * short, so nothing of them is set aside.
 */
export function earmarkFor(view: PotView, request: AdmitRequest): Amount {
  const { least, trialCaps, setting } = request;
  return mapUnits((unit) => {
    if (view.head.caps[unit] === null || unit === "rollouts") return 0;
    const own = trialCaps[unit];
    if (own !== null) return own;
    // A trial that is only verified again has no use for dollars, whatever others of its setting had.
    return least[unit] === 0 ? 0 : Math.max(least[unit], highPeak(view.shards, setting, unit));
  });
}

/**
 * How many trials the cap bears at a time: half of what it could serve with one dearest call each
 * (attack 13), so that worst cases leave room for each other. At least 1.
 */
export function bearableWidth(available: Balance, caps: Caps, least: Amount): number {
  const widths = cappedUnits(caps)
    .filter((unit) => unit !== "rollouts" && least[unit] > 0)
    .map((unit) => Math.floor(available[unit] / (2 * least[unit])));
  return Math.max(1, Math.min(Number.MAX_SAFE_INTEGER, ...widths));
}

/** At most 20 trials of a setting run until 20 have shown what one needs, unless a cap tells. */
function isLearning(view: PotView, { setting, trialCaps }: AdmitRequest): boolean {
  const isTold = cappedUnits(view.head.caps).every(
    (unit) => unit === "rollouts" || trialCaps[unit] !== null,
  );
  if (isTold || countSamples(view.shards, setting) >= ENOUGH_SAMPLES) return false;
  const running = leasesOf(view).filter(({ lease }) => lease.setting === setting).length;
  return running >= ENOUGH_SAMPLES;
}

/** Leases that make a shard's item so large that others are better used first. */
const FULL_SHARD = 48;

/**
 * The shard that can give the most of it alone; among equals one that the attempt's name draws, so that
 * a thousand trials that start at once do not all ask the same one.
 */
function sourcesFor({ shards }: PotView, attempt: string, amount: Amount): Sources | null {
  const start = sumOf(attempt) % shards.length;
  const ranked = shards
    .map(({ remaining, open }, shard) => ({
      shard,
      full: Number(open >= FULL_SHARD),
      short: LEDGER_UNITS.filter((unit) => remaining[unit] < amount[unit]).length,
      distance: (shard - start + shards.length) % shards.length,
    }))
    .toSorted(
      (one, other) =>
        one.full - other.full || one.short - other.short || one.distance - other.distance,
    );
  const [best] = ranked;
  return best === undefined ? null : findSources(shards, best.shard, amount);
}

/** FNV-1a, 32 bits: close names lie far apart. */
function sumOf(name: string): number {
  let sum = 0x811c9dc5;
  for (const letter of name) sum = Math.imul(sum ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return sum;
}
