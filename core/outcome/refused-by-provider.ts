import type { TrialRecord } from "../model/record.ts";

/**
 * Whether a provider refused a trial in a way that it would refuse every other one too (attack 9, failures
 * C-18): its key (401, 403), its account without money (402), a model that it does not have. A failure of
 * the passing kind is none.
 */
export function isRefusedByProvider({
  outcome,
  error,
}: Pick<TrialRecord, "outcome" | "error">): boolean {
  if (outcome.kind === "scored") return false;
  if (outcome.category === "provider_auth") return true;
  return outcome.category === "api_error" && error?.transient !== true;
}
