import type { Socket } from "node:net";
import { Taken } from "./calls.ts";
import { encodeFrame, type Frame, type FrameKind, FrameReader } from "./frames.ts";
import { Inflow, Outflow } from "./held-stream.ts";

/** One call's streams and words, at either end. */
export class Channel {
  readonly number: number;
  readonly inflows: Readonly<Record<"data" | "errors", Inflow>>;
  readonly outflows: Readonly<Record<"data" | "errors", Outflow>>;
  readonly #peer: Peer;

  constructor(peer: Peer, number: number) {
    this.#peer = peer;
    this.number = number;
    const inflow = (stream: "data" | "errors"): Inflow =>
      new Inflow((bytes) => void this.say("taken", { stream, bytes }));
    const outflow = (stream: "data" | "errors"): Outflow =>
      new Outflow(async (chunk) => {
        await peer.send({ kind: stream, channel: number, payload: chunk });
      });
    this.inflows = { data: inflow("data"), errors: inflow("errors") };
    this.outflows = { data: outflow("data"), errors: outflow("errors") };
  }

  async say(kind: FrameKind, value: unknown): Promise<void> {
    const payload = new TextEncoder().encode(JSON.stringify(value));
    await this.#peer.send({ kind, channel: this.number, payload });
  }

  /** Stream frames; false for a frame that is the owner's to handle. */
  take({ kind, payload }: Frame): boolean {
    if (kind === "data" || kind === "errors") this.inflows[kind].push(payload);
    else if (kind === "end") this.inflows.data.end();
    else if (kind === "taken") {
      const { stream, bytes } = Taken.parse(readJson(payload));
      this.outflows[stream].taken(bytes);
    } else return false;
    return true;
  }

  /** Nothing comes and nothing is waited for any more. */
  close(error: unknown = null): void {
    for (const stream of ["data", "errors"] as const) {
      this.inflows[stream].end(error);
      this.outflows[stream].close();
    }
  }
}

/** One side of the connection between a runner and the execd of its sandbox. */
export class Peer {
  readonly #socket: Socket;
  readonly closed: Promise<void>;
  #drained: Promise<void> | null = null;

  constructor(socket: Socket, onFrame: (frame: Frame) => void) {
    this.#socket = socket;
    const reader = new FrameReader();
    socket.on("data", (chunk: Buffer) => {
      try {
        for (const frame of reader.push(chunk)) onFrame(frame);
      } catch {
        // The other side speaks something else: it is not what we were connected to.
        socket.destroy();
      }
    });
    socket.on("error", () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once("close", () => {
        resolve();
      });
    });
  }

  /** Resolves when there is room for more; a connection that is gone takes everything and keeps nothing. */
  async send(frame: Frame): Promise<void> {
    if (this.#socket.destroyed || this.#socket.writableEnded) return;
    if (this.#socket.write(encodeFrame(frame))) return;
    this.#drained ??= this.#untilDrained();
    await this.#drained;
  }

  /** One wait for all senders. */
  async #untilDrained(): Promise<void> {
    const drained = new Promise<void>((resolve) => {
      this.#socket.once("drain", resolve);
    });
    await Promise.race([drained, this.closed]);
    this.#drained = null;
  }

  /** Sends what waits, then closes. */
  async finish(): Promise<void> {
    this.#socket.end();
    await this.closed;
  }
}

export function readJson(payload: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(payload));
}
