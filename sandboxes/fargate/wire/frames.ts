/** What a frame says. `data`, `more` and `end` go both ways, the rest as named. */
export const KINDS = [
  /** To execd: a call's method and arguments, as JSON. */
  "call",
  /** To execd: give the call up. */
  "cancel",
  /** From execd: the command runs. */
  "started",
  /** From execd: the call's result, as JSON. The channel's last frame. */
  "answer",
  /** From execd: `{failure, message}`. The channel's last frame. */
  "fail",
  /** Bytes of the main stream: stdin or an archive there, stdout or an archive back. */
  "data",
  /** Bytes of stderr. */
  "errors",
  /** The main stream's end. */
  "end",
  /** That many bytes of a stream were taken, so as many more may come: `{stream, bytes}`. */
  "taken",
] as const;
export type FrameKind = (typeof KINDS)[number];

export interface Frame {
  readonly kind: FrameKind;
  /** The call that it belongs to. */
  readonly channel: number;
  readonly payload: Uint8Array;
}

const HEADER_BYTES = 9;
/** A call carries an environment; everything larger is cut into several frames. */
const MAX_PAYLOAD_BYTES = 16 * 1024 * 1024;

export function encodeFrame({ kind, channel, payload }: Frame): Uint8Array {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.byteLength);
  frame.writeUInt32BE(payload.byteLength, 0);
  frame.writeUInt8(KINDS.indexOf(kind), 4);
  frame.writeUInt32BE(channel, 5);
  frame.set(payload, HEADER_BYTES);
  return frame;
}

/** Cuts a byte stream into frames. Throws for what is no frame of ours: the other side is not to be trusted. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #length = 0;

  push(chunk: Uint8Array): Frame[] {
    this.#chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    this.#length += chunk.byteLength;
    const frames: Frame[] = [];
    for (let frame = this.#next(); frame !== null; frame = this.#next()) frames.push(frame);
    return frames;
  }

  #next(): Frame | null {
    if (this.#length < HEADER_BYTES) return null;
    const header = this.#peek(HEADER_BYTES);
    const payloadBytes = header.readUInt32BE(0);
    const kind = KINDS[header.readUInt8(4)];
    if (kind === undefined || payloadBytes > MAX_PAYLOAD_BYTES) throw new Error("no frame of ours");
    if (this.#length < HEADER_BYTES + payloadBytes) return null;
    const whole = this.#peek(HEADER_BYTES + payloadBytes);
    const rest = whole.subarray(HEADER_BYTES + payloadBytes);
    this.#chunks = rest.byteLength === 0 ? [] : [rest];
    this.#length = rest.byteLength;
    const payload = whole.subarray(HEADER_BYTES, HEADER_BYTES + payloadBytes);
    return { kind, channel: header.readUInt32BE(5), payload };
  }

  /** At least that many bytes in one piece: joins chunks only when a frame is cut across them. */
  #peek(bytes: number): Buffer {
    const [first] = this.#chunks;
    if (first !== undefined && first.byteLength >= bytes && this.#chunks.length === 1) return first;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }
}
