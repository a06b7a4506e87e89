import type { TokenBuckets } from "./usage-buckets.ts";

/**
 * Why a provider's numbers cannot be believed. They are then not used at all: the call stays charged
 * with what was reserved for it (failures C-36).
 */
export type UsageAnomalyKind =
  | "negative"
  | "not-a-count"
  | "cache-exceeds-input"
  | "reasoning-exceeds-output"
  | "total-mismatch"
  | "ambiguous-total"
  | "fields-disagree"
  | "count-fell"
  | "nothing-used";

export interface UsageAnomaly {
  readonly kind: UsageAnomalyKind;
  /** The fields and values, for a person. */
  readonly detail: string;
}

/** What a reply said besides its token counts. */
export interface ReplyFacts {
  /** The model that the provider names. */
  readonly model: string | null;
  readonly stopReason: string | null;
  /** Part of the output tokens; null when the provider does not tell. */
  readonly reasoning: number | null;
  /** The provider's own error inside a reply or stream. */
  readonly error: string | null;
  /** Billed beyond the five buckets or at other rates, for example `web_search_requests`. */
  readonly extras: readonly string[];
  /** Events of the stream that were no JSON, or longer than the parser keeps. */
  readonly unreadableEvents: number;
  /** The usage object as it came. */
  readonly raw: unknown;
}

/**
 * What one reply used. `incomplete`: the final figure never came; `tokens` then holds what had been
 * told by then, a lower bound or null, and is never what is charged.
 */
export type UsageReading = ReplyFacts &
  (
    | { readonly status: "complete"; readonly tokens: TokenBuckets }
    | { readonly status: "incomplete"; readonly tokens: TokenBuckets | null }
    | { readonly status: "anomaly"; readonly anomaly: UsageAnomaly }
  );
