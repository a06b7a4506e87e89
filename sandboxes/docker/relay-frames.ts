/** What a relay's frames say; the numbers are relay-program.c's. */
export const FRAME_KINDS = { listen: 1, open: 2, data: 3, end: 4, cut: 5, taken: 6 } as const;
export type FrameKind = keyof typeof FRAME_KINDS;

export interface RelayFrame {
  readonly kind: FrameKind;
  /** The port, of `listen`. */
  readonly connection: number;
  /** Bytes, of `taken`. */
  readonly length: number;
  /** Of `data`, at most as long as the relay reads at a time. */
  readonly bytes: Buffer;
}

/** Bytes of `data` that a side may send before they are taken. */
export const WINDOW_BYTES = 131_072;

const HEADER_BYTES = 12;
const NO_BYTES = Buffer.alloc(0);

export function writeFrame(kind: FrameKind, connection: number, length = 0): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(FRAME_KINDS[kind], 0);
  header.writeUInt32LE(connection, 4);
  header.writeUInt32LE(length, 8);
  return header;
}

/** Splits a relay's output into frames. Throws for what no relay says. */
export async function* readFrames(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<RelayFrame, void, undefined> {
  let pending = NO_BYTES;
  for await (const chunk of source) {
    pending = pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([pending, chunk]);
    for (let frame = firstFrame(pending); frame !== null; frame = firstFrame(pending)) {
      pending = pending.subarray(HEADER_BYTES + frame.bytes.length);
      yield frame;
    }
  }
}

function firstFrame(pending: Buffer): RelayFrame | null {
  if (pending.length < HEADER_BYTES) return null;
  const [code, connection, length] = [0, 4, 8].map((at) => pending.readUInt32LE(at));
  const kind = kindOf(code ?? 0);
  const sizeBytes = kind === "data" ? (length ?? 0) : 0;
  if (sizeBytes > WINDOW_BYTES) throw new Error(`a relay sent ${String(sizeBytes)} bytes at once`);
  if (pending.length < HEADER_BYTES + sizeBytes) return null;
  const bytes = pending.subarray(HEADER_BYTES, HEADER_BYTES + sizeBytes);
  return { kind, connection: connection ?? 0, length: length ?? 0, bytes };
}

function kindOf(code: number): FrameKind {
  switch (code) {
    case FRAME_KINDS.listen:
      return "listen";
    case FRAME_KINDS.open:
      return "open";
    case FRAME_KINDS.data:
      return "data";
    case FRAME_KINDS.end:
      return "end";
    case FRAME_KINDS.cut:
      return "cut";
    case FRAME_KINDS.taken:
      return "taken";
    default:
      throw new Error(`a relay sent a frame of kind ${String(code)}`);
  }
}
