import type { TrialAccount } from "../../core/ledger/trial-account.ts";
import type { ModelAccess } from "../../core/ports/model-access.ts";

/** What a trial spends from, and how it reaches its models. */
export interface TrialSpend {
  readonly account: TrialAccount;
  /** Null for an agent that calls no model. */
  readonly models: ModelAccess | null;
}
