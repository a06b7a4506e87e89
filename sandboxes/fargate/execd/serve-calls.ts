import type { Socket } from "node:net";
import { messageOf } from "../../../core/errors.ts";
import { SandboxError } from "../../../core/ports/sandbox.ts";
import { packTree } from "../../files/pack-tree.ts";
import { SandboxRoot } from "../../files/sandbox-root.ts";
import { unpackTar } from "../../files/unpack-tar.ts";
import { markOf } from "../../processes.ts";
import { Calls, Failed } from "../wire/calls.ts";
import type { Frame } from "../wire/frames.ts";
import { Channel, Peer, readJson } from "../wire/peer.ts";
import { endProcesses, processTable, youngerThan } from "./process-table.ts";
import { readCgroup } from "./read-cgroup.ts";
import type { CommandRunner } from "./run-command.ts";

interface OpenCall {
  readonly channel: Channel;
  readonly cancelled: AbortController;
}

/** What the image set, for a runner that cannot ask whoever started the container. */
export interface ImageFacts {
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Serves one runner's calls until its connection ends. */
export class CallServer {
  readonly #runner: CommandRunner;
  readonly #facts: ImageFacts;
  readonly #peer: Peer;
  readonly #calls = new Map<number, OpenCall>();
  readonly #root: SandboxRoot;

  constructor(socket: Socket, runner: CommandRunner, facts: ImageFacts) {
    this.#runner = runner;
    this.#facts = facts;
    this.#root = new SandboxRoot({ id: "here", path: "/", mounts: [], isAlive: () => true });
    this.#peer = new Peer(socket, (frame) => {
      this.#take(frame);
    });
  }

  get closed(): Promise<void> {
    return this.#peer.closed;
  }

  #take(frame: Frame): void {
    if (frame.kind === "call") {
      const channel = new Channel(this.#peer, frame.channel);
      const open = { channel, cancelled: new AbortController() };
      this.#calls.set(frame.channel, open);
      void this.#answer(open, frame.payload);
      return;
    }
    const open = this.#calls.get(frame.channel);
    // A call that has ended may still be spoken to.
    if (open === undefined || open.channel.take(frame)) return;
    if (frame.kind !== "cancel") throw new Error(`unexpected ${frame.kind}`);
    open.cancelled.abort();
    open.channel.close();
  }

  async #answer(open: OpenCall, payload: Uint8Array): Promise<void> {
    const { channel } = open;
    try {
      const result = await this.#serve(Calls.parse(readJson(payload)), open);
      await channel.say("answer", result);
    } catch (error) {
      await channel.say("fail", failureOf(error));
    } finally {
      this.#calls.delete(channel.number);
      channel.close();
    }
  }

  async #serve(call: Calls, { channel, cancelled }: OpenCall): Promise<unknown> {
    switch (call.method) {
      case "run":
        return await this.#runner.run(call, {
          input: channel.inflows.data,
          started: async () => {
            await channel.say("started", {});
          },
          output: async (stream, bytes) => {
            await channel.outflows[stream].send(bytes);
          },
          cancelled: cancelled.signal,
        });
      case "put":
        await unpackTar(channel.inflows.data, call.dir, this.#root);
        return {};
      case "get":
        for await (const chunk of packTree(call.path, this.#root)) {
          if (cancelled.signal.aborted) break;
          await channel.outflows.data.send(chunk);
        }
        return {};
      case "mark":
        return { marks: processTable().map(markOf) };
      case "kill-user":
        return { left: await this.#runner.endUser(call.uid) };
      case "kill-since": {
        const victims = youngerThan(new Set(call.marks), new Set(call.keepers));
        return { left: await endProcesses(victims) };
      }
      case "stats":
        return readCgroup();
      case "describe":
        return this.#facts;
      case "end":
        return { left: await endProcesses((rows) => rows) };
    }
  }
}

function failureOf(error: unknown): Failed {
  const message = messageOf(error);
  const known = Failed.shape.failure.safeParse(error instanceof SandboxError ? error.failure : "");
  return { failure: known.data ?? "unsupported", message };
}
