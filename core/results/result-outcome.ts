import type { Outcome } from "../model/outcome.ts";
import type { ResultOutcome } from "../model/trial-result.ts";

/** An outcome in result.json's spelling; `fromResultOutcome` is its inverse. */
export function toResultOutcome(outcome: Outcome): ResultOutcome {
  if (outcome.kind === "scored") return outcome;
  const { verifyOnly, afterAgent, kind, fault, category, detail, phase } = outcome;
  const flags = { verify_only: verifyOnly, after_agent: afterAgent };
  return { kind, fault, category, detail, phase, ...flags };
}

export function fromResultOutcome(outcome: ResultOutcome): Outcome {
  if (outcome.kind === "scored") return outcome;
  const { verify_only: verifyOnly, after_agent: afterAgent, ...rest } = outcome;
  return { ...rest, verifyOnly, afterAgent };
}
