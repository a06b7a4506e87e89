import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";

export type BodyRead =
  | { readonly bytes: Buffer }
  | { readonly status: 400 | 413 | 415; readonly message: string };

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ["gzip", promisify(gunzip)],
  ["x-gzip", promisify(gunzip)],
  ["deflate", promisify(inflate)],
  ["br", promisify(brotliDecompress)],
]);

/** Bytes of requests that are being read at this moment, over all of them. */
export class PendingBytes {
  readonly #max: number;
  #pending = 0;

  constructor(max: number) {
    this.#max = max;
  }

  take(bytes: number): boolean {
    this.#pending += bytes;
    return this.#pending <= this.#max;
  }

  give(bytes: number): void {
    this.#pending -= bytes;
  }
}

/**
 * A request's body, decoded, at most `maxBytes` before and after decoding. Rejects when the connection
 * breaks.
 */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  pending: PendingBytes,
): Promise<BodyRead> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    // The rest of a refused body is left to whoever answers; ending the stream would cut the answer.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      if (!(chunk instanceof Buffer)) continue;
      length += chunk.length;
      const fits = pending.take(chunk.length);
      if (length > maxBytes || !fits)
        return { status: 413, message: `request of more than ${maxBytes} bytes` };
      chunks.push(chunk);
    }
  } finally {
    pending.give(length);
  }
  return decoded(Buffer.concat(chunks), request.headers["content-encoding"], maxBytes);
}

async function decoded(
  bytes: Buffer,
  encoding: string | undefined,
  maxBytes: number,
): Promise<BodyRead> {
  const name = (encoding ?? "identity").trim().toLowerCase();
  if (name === "" || name === "identity") return { bytes };
  const decode = DECODERS.get(name);
  if (decode === undefined) return { status: 415, message: `content-encoding ${name} not served` };
  try {
    return { bytes: await decode(bytes, { maxOutputLength: maxBytes }) };
  } catch (thrown) {
    const isTooLarge = thrown instanceof RangeError;
    return isTooLarge
      ? { status: 413, message: `request of more than ${maxBytes} bytes` }
      : { status: 400, message: `body is not ${name}` };
  }
}
