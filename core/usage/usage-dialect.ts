import type { UsageReading } from "../model/usage-reading.ts";

/**
 * Reads one reply's usage in one protocol. Takes the events of a stream one by one, or the whole body
 * as the only event; the two give the same reading. Never throws, whatever it is given.
 */
export interface UsageDialect {
  read(event: unknown): void;
  /** The stream's own end mark came (`[DONE]`). */
  endMark(): void;
  /** Output tokens told so far, for a cap that holds within the stream; 0 where nothing was told. */
  outputSoFar(): number;
  /** The reply said that it is whole: its end mark came, or why the model stopped. */
  hasEnded(): boolean;
  reading(): UsageReading;
}
