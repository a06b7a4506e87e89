import { promptTokens } from "../../core/model/usage-buckets.ts";
import type { TokenBuckets } from "../../core/model/usage-buckets.ts";
import type { SpendActual } from "../../core/ports/spend-gate.ts";
import { isFree, priceTokens } from "../../core/usage/price-tokens.ts";
import { NO_COST } from "./call-record.ts";
import type { CallCost, CallRecord } from "./call-record.ts";
import type { PricedCall } from "./price-call.ts";

/** How a call came out, in money: what the gate is told, what the row says, what does not add up. */
export interface Settlement {
  readonly actual: SpendActual;
  readonly cost: CallCost;
  readonly anomaly: string | null;
  /** More was used than was reserved: nothing further may be spent. */
  readonly isOver: boolean;
}

/** Statuses that a gateway gives when the origin may have worked on, and billed, all the same. */
const MAYBE_BILLED = new Set([408, 504, 524]);
const BYTES_PER_TOKEN = 4;

/** What the call leaves visible of what it used, for a guess where nothing was told. */
export interface VisibleUse {
  readonly requestBytes: number;
  readonly outputChars: number;
}

/**
 * Settles a call that was sent. Its real figure is charged when the provider told one that can be
 * believed and priced; a call that the provider refused costs nothing; any other stays charged with
 * all that was reserved for it (design 8), and the guess beside it is only shown.
 */
export function settleCall(
  record: CallRecord,
  priced: PricedCall,
  visible: VisibleUse,
): Settlement {
  const { reading, upstreamStatus } = record;
  const isRefusal = upstreamStatus !== null && upstreamStatus >= 300;
  if (isRefusal && !MAYBE_BILLED.has(upstreamStatus) && reading?.status !== "complete")
    return UNUSED;
  if (reading?.status === "complete" && reading.extras.length === 0) {
    if (reading.tokens.output > 0 || visible.outputChars === 0)
      return usedSettlement(reading.tokens, priced);
    return fullCharge(priced, visible, "an answer of text that used no output");
  }
  const anomaly = reading?.status === "anomaly" ? reading.anomaly : null;
  return fullCharge(
    priced,
    visible,
    anomaly === null ? null : `${anomaly.kind}: ${anomaly.detail}`,
  );
}

/** A call that never reached the provider, or that it refused. */
export const UNUSED: Settlement = {
  actual: { kind: "unused" },
  cost: NO_COST,
  anomaly: null,
  isOver: false,
};

function usedSettlement(tokens: TokenBuckets, { card, claim }: PricedCall): Settlement {
  const costMicroUsd = card === null ? null : priceTokens(card, tokens);
  const isOver =
    claim.unbounded.length === 0 &&
    (promptTokens(tokens) > claim.tokens.input ||
      tokens.output > claim.tokens.output ||
      (costMicroUsd ?? 0) > (claim.costMicroUsd ?? 0));
  return {
    actual: { kind: "used", tokens, costMicroUsd },
    cost: {
      cost_micro_usd: costMicroUsd,
      cost_status: card === null ? "unpriced" : isFree(card) ? "free" : "priced",
      price_source: card?.source ?? null,
      estimate: null,
    },
    isOver,
    anomaly: isOver
      ? `used ${promptTokens(tokens)} in and ${tokens.output} out, more than the ${claim.tokens.input} and ${claim.tokens.output} reserved`
      : null,
  };
}

function fullCharge(
  { card, claim }: PricedCall,
  visible: VisibleUse,
  anomaly: string | null,
): Settlement {
  const estimate = {
    input: Math.ceil(visible.requestBytes / BYTES_PER_TOKEN),
    output: Math.ceil(visible.outputChars / BYTES_PER_TOKEN),
    cacheRead: 0,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
  };
  return {
    actual: { kind: "unknown", estimate },
    cost: {
      cost_micro_usd: claim.costMicroUsd,
      cost_status: card === null ? "unpriced" : "reserved",
      price_source: card?.source ?? null,
      estimate,
    },
    anomaly,
    isOver: false,
  };
}
