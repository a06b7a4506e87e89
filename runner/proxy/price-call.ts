import type { PriceCard } from "../../core/model/usage-price.ts";
import type { SpendClaim } from "../../core/ports/spend-gate.ts";
import { boundRequest } from "../../core/usage/bound-request.ts";
import type { ModelLimits } from "../../core/usage/bound-request.ts";
import { priceBound } from "../../core/usage/price-tokens.ts";
import type { PreparedCall } from "./prepare-call.ts";

/** A call's worst case, and the card that its real figure will be priced by. */
export interface PricedCall {
  readonly claim: SpendClaim;
  readonly card: PriceCard | null;
}

/** What must be set aside before a call is made. Limits that the price list knows fill in for ours. */
export function priceCall(
  call: PreparedCall,
  card: PriceCard | null,
  limits: ModelLimits,
): PricedCall {
  const { tokens, unbounded } = boundRequest(
    call.sentProtocol,
    { facts: call.facts, bodyBytes: call.bytes.length },
    {
      contextTokens: limits.contextTokens ?? card?.contextTokens ?? null,
      maxOutputTokens: limits.maxOutputTokens ?? card?.maxOutputTokens ?? null,
    },
  );
  const costMicroUsd = card === null ? null : priceBound(card, tokens);
  return { card, claim: { tokens, costMicroUsd, unbounded, purpose: call.purpose } };
}
