import type { Redactor } from "./redact/redactor.ts";

/** What of a body is kept for the trajectory. */
export interface RecordedBody {
  readonly body: unknown;
  readonly droppedBytes: number;
}

export interface RecordLimits {
  /** Longest string kept whole; of a longer one both ends are kept. */
  readonly maxStringChars: number;
  /** Largest body kept, as JSON text. */
  readonly maxBodyChars: number;
}

/** Longer than any form of a secret: a cut within it cannot leave half of one. */
const CUT_MARGIN = 4096;

/**
 * A body for llm_trajectory.jsonl: long strings cut with a mark that tells how much is gone, secrets
 * taken out, and a body that is still too large replaced by such a mark. `sizeChars` is its length as
 * JSON text, or more; a body that is small by it is not measured again.
 */
export function recordBody(
  { value, sizeChars }: { readonly value: unknown; readonly sizeChars: number },
  redactor: Redactor,
  limits: RecordLimits,
): RecordedBody {
  const cutter = new StringCutter(redactor, limits.maxStringChars);
  const body = redactor.value(value, (text) => cutter.cut(text)) ?? null;
  if (sizeChars <= limits.maxBodyChars) return { body, droppedBytes: cutter.droppedBytes };
  const { length } = JSON.stringify(body);
  if (length <= limits.maxBodyChars) return { body, droppedBytes: cutter.droppedBytes };
  const dropped = cutter.droppedBytes + length;
  return { body: { dropped_bytes: dropped }, droppedBytes: dropped };
}

class StringCutter {
  readonly #redactor: Redactor;
  readonly #maxChars: number;
  droppedBytes = 0;

  constructor(redactor: Redactor, maxChars: number) {
    this.#redactor = redactor;
    this.#maxChars = maxChars;
  }

  /** The redacted text, cut. A margin is redacted and thrown away, so that no secret is halved. */
  cut(text: string): string {
    if (text.length <= this.#maxChars + 2 * CUT_MARGIN) return this.#redactor.text(text);
    const half = Math.floor(this.#maxChars / 2);
    const bytes = Buffer.byteLength(text.slice(half, text.length - half));
    this.droppedBytes += bytes;
    const head = this.#redactor.text(text.slice(0, half + CUT_MARGIN)).slice(0, -CUT_MARGIN);
    const tail = this.#redactor.text(text.slice(text.length - half - CUT_MARGIN)).slice(CUT_MARGIN);
    return `${head}[${bytes} bytes dropped]${tail}`;
  }
}
