import type { Outcome } from "../model/outcome.ts";
import { isRetryable } from "../outcome/retryable.ts";

export interface RetryQuestion {
  readonly outcome: Outcome;
  /** Attempts that this command has made for the trial, the one that just ended included. */
  readonly attemptsMade: number;
  /** Of the settings: attempts after the first. */
  readonly retryAttempts: number;
  /** The attempt saved the agent's workspace. */
  readonly workspaceSaved: boolean;
  /** A provider's failure was of the passing kind (429, 5xx). */
  readonly transient?: boolean;
}

export type RetryDecision =
  | { readonly retry: false; readonly why: string }
  | {
      readonly retry: true;
      /** Milliseconds to wait before the next attempt starts. */
      readonly delayMs: number;
      /** Only the verifier runs again, on the saved workspace. */
      readonly verifyOnly: boolean;
    };

const MAX_DELAY_MS = 30_000;

/**
 * Whether a trial gets another attempt in this command (spec 2.6, statistics D1). A score is final,
 * whatever the agent's own error was. The wait after the nth attempt is `min(2^n, 30)` seconds.
 */
export function decideRetry(question: RetryQuestion): RetryDecision {
  const { outcome, attemptsMade, retryAttempts } = question;
  if (outcome.kind === "scored") return { retry: false, why: "scored" };
  if (!isRetryable(outcome, { transient: question.transient ?? false }))
    return { retry: false, why: `${outcome.category} is not retried` };
  if (attemptsMade > retryAttempts) {
    return { retry: false, why: `${outcome.category} in the last of ${attemptsMade} attempts` };
  }
  return {
    retry: true,
    delayMs: retryDelayMs(attemptsMade),
    verifyOnly: outcome.verifyOnly && question.workspaceSaved,
  };
}

/** 2 s, 4 s, 8 s, 16 s, then 30 s. */
export function retryDelayMs(attemptsMade: number): number {
  return Math.min(2 ** attemptsMade * 1000, MAX_DELAY_MS);
}
