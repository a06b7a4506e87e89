import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { type ByteStream, SandboxError } from "../../core/ports/sandbox.ts";
import { type Calls, Failed } from "./wire/calls.ts";
import type { Frame } from "./wire/frames.ts";
import { Channel, Peer, readJson } from "./wire/peer.ts";

/** A call on its way: its streams, and what it comes to. */
export interface OpenCall {
  /** stdout, or an archive. Ends, with the call's error if it has one, when the call does. */
  readonly data: ByteStream;
  readonly errors: ByteStream;
  /** Resolves when a command runs; rejects with the call's error when it never does. */
  readonly started: Promise<void>;
  readonly result: Promise<unknown>;
  write(bytes: Uint8Array): Promise<void>;
  end(): Promise<void>;
  /** Writes all of the stream, then its end. */
  send(bytes: ByteStream): Promise<void>;
  cancel(): void;
}

interface Pending {
  readonly channel: Channel;
  readonly outcome: Deferred<unknown>;
  readonly start: Deferred<void>;
}

const RETRY_MS = 50;

/** The runner's end of the connection to the execd of its sandbox. */
export class ExecdClient {
  readonly #peer: Peer;
  readonly #pending = new Map<number, Pending>();
  #calls = 0;
  #isOpen = true;

  private constructor(socket: Socket) {
    this.#peer = new Peer(socket, (frame) => {
      this.#take(frame);
    });
    void this.#endWithPeer();
  }

  async #endWithPeer(): Promise<void> {
    await this.#peer.closed;
    this.#isOpen = false;
    for (const { channel, outcome } of this.#pending.values()) {
      outcome.reject(lost());
      channel.close(lost());
    }
    this.#pending.clear();
  }

  /** Waits for the socket to be there: containers of a task start in no order. Throws `start-failed`. */
  static async connect(
    socketPath: string,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<ExecdClient> {
    for (const until = performance.now() + timeoutMs; ;) {
      const socket = connect(socketPath);
      try {
        await once(socket, "connect", { signal });
        return new ExecdClient(socket);
      } catch (cause) {
        socket.destroy();
        signal.throwIfAborted();
        if (performance.now() > until) {
          const seconds = String(timeoutMs / 1000);
          const message = `the task's container did not come up within ${seconds} s`;
          throw new SandboxError("start-failed", message, { cause });
        }
        await delay(RETRY_MS);
      }
    }
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Throws `lost` when the container is gone. */
  assertOpen(): void {
    if (!this.#isOpen) throw lost();
  }

  call(call: Calls): OpenCall {
    this.assertOpen();
    this.#calls += 1;
    const channel = new Channel(this.#peer, this.#calls);
    const outcome = deferred<unknown>();
    const start = deferred<void>();
    this.#pending.set(channel.number, { channel, outcome, start });
    // A command that never runs fails as its call does.
    outcome.promise.catch(start.reject);
    void channel.say("call", call);
    const write = async (bytes: Uint8Array): Promise<void> => {
      await channel.outflows.data.send(bytes);
    };
    const end = async (): Promise<void> => {
      await channel.say("end", {});
    };
    return {
      data: channel.inflows.data,
      errors: channel.inflows.errors,
      started: start.promise,
      result: outcome.promise,
      write,
      end,
      send: async (bytes) => {
        for await (const chunk of bytes) await write(chunk);
        await end();
      },
      cancel: () => {
        void channel.say("cancel", {});
      },
    };
  }

  async close(): Promise<void> {
    await this.#peer.finish();
  }

  #take(frame: Frame): void {
    const pending = this.#pending.get(frame.channel);
    if (pending === undefined || pending.channel.take(frame)) return;
    const { channel, outcome, start } = pending;
    if (frame.kind === "started") {
      start.resolve();
      return;
    }
    this.#pending.delete(frame.channel);
    if (frame.kind === "fail") {
      const { failure, message } = Failed.parse(readJson(frame.payload));
      const error = new SandboxError(failure, message);
      outcome.reject(error);
      channel.close(error);
      return;
    }
    outcome.resolve(readJson(frame.payload));
    channel.close();
  }
}

function lost(): SandboxError {
  return new SandboxError("lost", "sandbox lost: its container has ended");
}

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

/** Its rejection is never "unhandled": whoever waits for one part of a call may not wait for another. */
function deferred<Value>(): Deferred<Value> {
  const parts: { resolve?: (value: Value) => void; reject?: (error: unknown) => void } = {};
  const promise = new Promise<Value>((resolve, reject) => {
    Object.assign(parts, { resolve, reject });
  });
  promise.catch(() => undefined);
  return {
    promise,
    resolve: (value) => parts.resolve?.(value),
    reject: (error) => parts.reject?.(error),
  };
}
