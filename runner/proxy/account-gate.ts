import type { TrialAccount } from "../../core/ledger/trial-account.ts";
import type { Amount } from "../../core/model/ledger-amount.ts";
import { totalTokens } from "../../core/model/usage-buckets.ts";
import type {
  SpendActual,
  SpendClaim,
  SpendDecision,
  SpendGate,
} from "../../core/ports/spend-gate.ts";

/** Which caps the command has: what cannot be bounded in a capped unit may not be spent. */
export interface CappedUnits {
  readonly microUsd: boolean;
  readonly tokens: boolean;
}

/**
 * A trial's account as the gate of its proxy. A call of unknown cost is refused under a dollar cap, one
 * without a bound under any (design 8); a call whose figure never comes is never told of, and so stays
 * charged in full.
 */
export function accountGate(
  account: Pick<TrialAccount, "reserve" | "settle">,
  { capped, patienceMs }: { readonly capped: CappedUnits; readonly patienceMs: number },
): SpendGate {
  return {
    async reserve(claim, signal) {
      const refusal = refusalOf(claim, capped);
      if (refusal !== null) return refusal;
      const worst = amountOf(claim.costMicroUsd, claim.tokens.input + claim.tokens.output);
      const reservation = await account.reserve(worst, { signal, patienceMs });
      switch (reservation.kind) {
        case "granted":
          return { kind: "lease", lease: { id: reservation.call } };
        case "refused":
          return { kind: "refused", reason: reservation.by, message: reservation.why };
        case "trial-limit": {
          const message = `the trial's own limit of ${reservation.unit} is reached`;
          return { kind: "refused", reason: "trial-limit", message };
        }
      }
    },
    async settle(lease, actual) {
      const spent = spentOf(actual);
      if (spent !== null) await account.settle(lease.id, spent);
    },
  };
}

function refusalOf(
  claim: SpendClaim,
  capped: CappedUnits,
): Extract<SpendDecision, { kind: "refused" }> | null {
  if (claim.unbounded.length > 0 && (capped.microUsd || capped.tokens)) {
    const message = `its cost has no bound under the cap: ${claim.unbounded.join(", ")}`;
    return { kind: "refused", reason: "unbounded", message };
  }
  if (claim.costMicroUsd !== null || !capped.microUsd) return null;
  return { kind: "refused", reason: "unpriced", message: "the model's price is unknown" };
}

function spentOf(actual: SpendActual): Amount | null {
  switch (actual.kind) {
    case "used":
      return amountOf(actual.costMicroUsd, totalTokens(actual.tokens));
    case "unused":
      return amountOf(0, 0);
    case "unknown":
      return null;
  }
}

function amountOf(microUsd: number | null, tokens: number): Amount {
  return { microUsd: microUsd ?? 0, tokens, sandboxMs: 0, rollouts: 0 };
}
