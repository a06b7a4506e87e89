import { createConnection, type Socket } from "node:net";
import type { Writable } from "node:stream";
import { type RelayFrame, readFrames, WINDOW_BYTES, writeFrame } from "./relay-frames.ts";

interface Carried {
  readonly socket: Socket;
  /** Bytes that may still be sent to the relay. */
  credit: number;
  /** What was read of the socket and has no credit yet. */
  waiting: Buffer;
  /** The socket has ended; said once all that waits is sent. */
  hasEnded: boolean;
  isEndSaid: boolean;
  relayEnded: boolean;
}

/**
 * Our end of a relay: for each connection that it tells of, one to the unix socket. Never more than a
 * window of a connection's bytes lies here, and a slow one holds no other.
 */
export class RelayOwner {
  readonly #socketPath: string;
  readonly #relay: Writable;
  readonly #carried = new Map<number, Carried>();
  #port: ((port: number) => void) | null = null;
  /** The port inside; rejects when the relay ends before it has one. */
  readonly port: Promise<number>;

  constructor(
    relay: { readonly input: Writable; readonly output: AsyncIterable<Uint8Array> },
    socketPath: string,
  ) {
    this.#socketPath = socketPath;
    this.#relay = relay.input;
    relay.input.on("error", () => this.close());
    this.port = new Promise((resolve, reject) => {
      this.#port = resolve;
      this.#follow(relay.output).then(
        () => reject(new Error("the relay ended")),
        (error: unknown) => reject(error instanceof Error ? error : new Error(String(error))),
      );
    });
    // Whoever waits for it gets the rejection; later it says nothing that is not seen otherwise.
    this.port.catch(() => undefined);
  }

  /** Cuts every connection. */
  close(): void {
    for (const { socket } of this.#carried.values()) socket.destroy();
    this.#carried.clear();
  }

  async #follow(output: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const frame of readFrames(output)) this.#obey(frame);
    } finally {
      this.close();
    }
  }

  #obey({ kind, connection, length, bytes }: RelayFrame): void {
    if (kind === "listen") this.#port?.(connection);
    else if (kind === "open") this.#open(connection);
    const carried = this.#carried.get(connection);
    if (carried === undefined) return;
    if (kind === "data") this.#pass(connection, carried, bytes);
    else if (kind === "end") this.#endRelay(connection, carried);
    else if (kind === "cut") this.#forget(connection, carried);
    else if (kind === "taken") {
      carried.credit += length;
      this.#send(connection, carried);
    }
  }

  #open(connection: number): void {
    const socket = createConnection({ path: this.#socketPath, allowHalfOpen: true });
    const carried: Carried = {
      socket,
      credit: WINDOW_BYTES,
      waiting: Buffer.alloc(0),
      hasEnded: false,
      isEndSaid: false,
      relayEnded: false,
    };
    this.#carried.set(connection, carried);
    socket.on("data", (chunk: Buffer) => {
      carried.waiting =
        carried.waiting.length === 0 ? chunk : Buffer.concat([carried.waiting, chunk]);
      this.#send(connection, carried);
    });
    socket.on("end", () => {
      carried.hasEnded = true;
      this.#send(connection, carried);
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      // What it said to its end is still sent; one that broke says no more.
      if (!carried.hasEnded) this.#cut(connection, carried);
    });
  }

  #pass(connection: number, carried: Carried, bytes: Buffer): void {
    const { length } = bytes;
    carried.socket.write(bytes, (error) => {
      if (error == null) this.#say(writeFrame("taken", connection, length));
      else this.#cut(connection, carried);
    });
  }

  /** Nobody takes the rest: the other side must not wait for it. */
  #cut(connection: number, carried: Carried): void {
    if (this.#carried.get(connection) !== carried) return;
    this.#say(writeFrame("cut", connection));
    this.#forget(connection, carried);
  }

  #send(connection: number, carried: Carried): void {
    const size = Math.min(carried.credit, carried.waiting.length);
    if (size > 0) {
      this.#say(writeFrame("data", connection, size));
      this.#say(carried.waiting.subarray(0, size));
      carried.waiting = carried.waiting.subarray(size);
      carried.credit -= size;
    }
    if (carried.waiting.length > 0) carried.socket.pause();
    else if (carried.hasEnded && !carried.isEndSaid) {
      carried.isEndSaid = true;
      this.#say(writeFrame("end", connection));
      this.#forgetWhole(connection, carried);
    } else carried.socket.resume();
  }

  #endRelay(connection: number, carried: Carried): void {
    carried.relayEnded = true;
    carried.socket.end();
    this.#forgetWhole(connection, carried);
  }

  #forgetWhole(connection: number, { isEndSaid, relayEnded }: Carried): void {
    if (isEndSaid && relayEnded) this.#carried.delete(connection);
  }

  #forget(connection: number, { socket }: Carried): void {
    this.#carried.delete(connection);
    socket.destroy();
  }

  #say(bytes: Uint8Array): void {
    if (!this.#relay.destroyed && this.#relay.writable) this.#relay.write(bytes);
  }
}
