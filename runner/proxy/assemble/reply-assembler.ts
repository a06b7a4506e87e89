/**
 * Puts a streamed reply together again for the record, and can end it early as the provider itself
 * would at its output limit. Takes the same events as the usage meter; never throws.
 */
export interface ReplyAssembler {
  read(event: unknown): void;
  /** Characters that the model has produced so far, as far as they show in the stream. */
  readonly visibleChars: number;
  /** The reply as its whole body would have been; of a cut stream what came. */
  body(): unknown;
  /** The events that end the stream here, as a reply that reached its limit of output tokens. */
  cappedEnding(outputTokens: number): string;
}

export function sse(type: string | null, data: unknown): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${type === null ? "" : `event: ${type}\n`}data: ${text}\n\n`;
}
