const RECORD_SEPARATOR = 0x1e;
const NEWLINE = 0x0a;

/** Longest frame; what is longer is not ours, and must not be held for ever. */
const MAX_FRAME_BYTES = 64 * 1024;

/** What a scanned stream holds: bytes of a command, or one frame of the supervisor. */
export type Scanned =
  | { readonly kind: "output"; readonly bytes: Uint8Array }
  | { readonly kind: "frame"; readonly text: string };

/**
 * Tells the supervisor's frames (record separator, token, blank, text, newline) from the bytes around
 * them. Holds back only what may be the beginning of a frame, so that output flows as it comes.
 */
export class FrameScanner {
  readonly #marker: Buffer;
  #held: Buffer = Buffer.alloc(0);

  constructor(token: string) {
    this.#marker = Buffer.from(`${String.fromCodePoint(RECORD_SEPARATOR)}${token} `);
  }

  *scan(chunk: Uint8Array): Generator<Scanned, void, undefined> {
    let rest =
      this.#held.byteLength === 0 ? Buffer.from(chunk) : Buffer.concat([this.#held, chunk]);
    for (let start = rest.indexOf(this.#marker); start >= 0; start = rest.indexOf(this.#marker)) {
      const end = rest.indexOf(NEWLINE, start);
      const isTooLong = (end < 0 ? rest.byteLength : end) - start > MAX_FRAME_BYTES;
      if (end < 0 && !isTooLong) break;
      const outputEnd = isTooLong ? start + this.#marker.byteLength : start;
      if (outputEnd > 0) yield { kind: "output", bytes: rest.subarray(0, outputEnd) };
      if (!isTooLong)
        yield {
          kind: "frame",
          text: rest.toString("latin1", start + this.#marker.byteLength, end),
        };
      rest = rest.subarray(isTooLong ? outputEnd : end + 1);
    }
    const keepFrom = this.#firstOpenMarker(rest);
    if (keepFrom > 0) yield { kind: "output", bytes: rest.subarray(0, keepFrom) };
    this.#held = rest.subarray(keepFrom);
  }

  /** Where a marker begins that is not complete yet, or whose line is not. */
  #firstOpenMarker(bytes: Buffer): number {
    const whole = bytes.indexOf(this.#marker);
    if (whole >= 0) return whole;
    for (
      let at = bytes.indexOf(
        RECORD_SEPARATOR,
        Math.max(0, bytes.byteLength - this.#marker.byteLength + 1),
      );
      at >= 0;
      at = bytes.indexOf(RECORD_SEPARATOR, at + 1)
    )
      if (this.#marker.subarray(0, bytes.byteLength - at).equals(bytes.subarray(at))) return at;
    return bytes.byteLength;
  }
}
