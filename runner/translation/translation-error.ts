/**
 * Why a provider's reply cannot be told. `failed`: it tells a failure of its own. `incomplete`: it ended
 * before its end. `unreadable`: it is none of its protocol's, or holds what the agent's has no words for.
 */
export type TranslationFailure = "failed" | "incomplete" | "unreadable";

/** Thrown for a reply that the agent cannot be given as an answer; the message is for the agent. */
export class TranslationError extends Error {
  override readonly name = "TranslationError";
  readonly failure: TranslationFailure;

  constructor(failure: TranslationFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.failure = failure;
  }
}
