/** One piece of a process's output as the daemon frames it. */
export interface StdioFrame {
  readonly stream: "stdout" | "stderr";
  readonly chunk: Uint8Array;
}

const HEADER_BYTES = 8;

/**
 * Splits the daemon's raw stream into stdout and stderr (Engine API, "Stream format": stream type in
 * byte 0, big-endian length in bytes 4 to 7). Pulls only as the consumer does, so a slow reader holds
 * the process back. A stream that ends inside a frame was cut: that is an error, never an end.
 */
export async function* readStdioFrames(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<StdioFrame, void, undefined> {
  const splitter = new FrameSplitter();
  for await (const bytes of source) yield* splitter.split(bytes);
  if (splitter.isInside) throw new Error("docker's output stream ended in the middle of a frame");
}

class FrameSplitter {
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #leftBytes = 0;

  get isInside(): boolean {
    return this.#leftBytes > 0 || this.#headerBytes > 0;
  }

  *split(bytes: Uint8Array): Generator<StdioFrame, void, undefined> {
    let rest = bytes;
    while (rest.byteLength > 0) {
      const wanted = this.#leftBytes > 0 ? this.#leftBytes : HEADER_BYTES - this.#headerBytes;
      const taken = rest.subarray(0, wanted);
      rest = rest.subarray(taken.byteLength);
      if (this.#leftBytes === 0) {
        this.#takeHeader(taken);
        continue;
      }
      this.#leftBytes -= taken.byteLength;
      yield { stream: streamOf(this.#header), chunk: taken };
    }
  }

  #takeHeader(bytes: Uint8Array): void {
    this.#header.set(bytes, this.#headerBytes);
    this.#headerBytes = (this.#headerBytes + bytes.byteLength) % HEADER_BYTES;
    if (this.#headerBytes === 0) this.#leftBytes = this.#header.readUInt32BE(4);
  }
}

function streamOf(header: Buffer): "stdout" | "stderr" {
  const type = header[0];
  if (type === 1) return "stdout";
  if (type === 2) return "stderr";
  throw new Error(`docker's output stream holds a frame of type ${String(type)}`);
}
