import type { CallPurpose } from "../model/exchange.ts";
import type { TokenBuckets } from "../model/usage-buckets.ts";
import type { TokenBound } from "../usage/price-tokens.ts";

/** The most that one model call can use and cost, claimed before it is made. */
export interface SpendClaim {
  readonly tokens: TokenBound;
  /** Micro-dollars; null when the model's price is unknown. */
  readonly costMicroUsd: number | null;
  /** Why the figures are no bound; such a call must be refused under a cap (design 8). */
  readonly unbounded: readonly string[];
  readonly purpose: CallPurpose;
}

/**
 * What ended a trial's spending for good: the pot's money; an anomaly, a figure above its reservation, which
 * stops the whole run (design 8); or the run's breaker, since the provider refuses its key.
 */
export type SpendEnd = "budget" | "anomaly" | "breaker";

/** What was set aside for one call. Settled exactly once; settling again changes nothing. */
export interface SpendLease {
  readonly id: string;
}

export type SpendDecision =
  | { readonly kind: "lease"; readonly lease: SpendLease }
  /** It does not fit while other calls are open; ask again after that time. */
  | { readonly kind: "wait"; readonly retryAfterMs: number }
  /**
   * A `SpendEnd`: the command's pot will never bear it. `trial-limit`: the trial's own cap is reached.
   * `unbounded`, `unpriced`: this one call may not be made under a cap.
   */
  | {
      readonly kind: "refused";
      readonly reason: SpendEnd | "trial-limit" | "unbounded" | "unpriced";
      readonly message: string;
    };

export type SpendActual =
  | {
      readonly kind: "used";
      readonly tokens: TokenBuckets;
      readonly costMicroUsd: number | null;
    }
  /** The provider made no use of it: nothing is charged. */
  | { readonly kind: "unused" }
  /** The figure never came: the call stays charged in full. */
  | { readonly kind: "unknown"; readonly estimate: TokenBuckets };

/** The money behind a proxy. Whoever cannot be reached rejects `reserve`, and spending stops. */
export interface SpendGate {
  /** Aborted when the agent or the trial is gone. */
  reserve(claim: SpendClaim, signal: AbortSignal): Promise<SpendDecision>;
  /** Called while a reply may still flow; a rejection stops all further spending, not the reply. */
  settle(lease: SpendLease, actual: SpendActual): Promise<void>;
}
