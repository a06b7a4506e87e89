import { SandboxError, type SandboxOwner } from "../../core/ports/sandbox.ts";
import type { AttachedStreams } from "./control-channel.ts";
import type { Helper } from "./helper-containers.ts";
import { nameServersIn, type NetworkGuard, type Protected } from "./network-guard.ts";

/** The one byte that the gate waits for. */
const GO = "g";

/** A container that reads four kilobytes and writes them has no reason to take longer. */
const GATE_MS = 60_000;
const MAX_TOLD_BYTES = 8192;

/** How a container came to its network: its walls, and a helper that is to be removed. */
export interface OpenedNetwork {
  readonly protection: Protected;
  readonly helper: Helper | null;
}

/**
 * Gives a container its network and its walls while it starts. The daemon attaches the network before
 * any process is there; the first one is a program of ours, which waits; when the walls stand it
 * becomes the supervisor. So nothing of the image runs without them, and nothing has to be frozen.
 */
export class StartGate {
  readonly lenderId: string;
  opened: OpenedNetwork | null = null;
  readonly #guard: NetworkGuard;
  readonly #owner: SandboxOwner;

  constructor(guard: NetworkGuard, owner: SandboxOwner, lenderId: string) {
    this.lenderId = lenderId;
    this.#guard = guard;
    this.#owner = owner;
  }

  /**
   * Sets the walls of a started container and lets it through. The gate has told what the daemon wrote
   * into resolv.conf, which nothing of the image could change yet.
   */
  async pass(
    { id, name }: { readonly id: string; readonly name: string },
    streams: AttachedStreams,
  ): Promise<void> {
    const nameServers = nameServersIn(await toldAtGate(streams));
    const protection = { owner: this.#owner, serves: name, nameServers };
    const helper = await this.#guard.shut(id, protection);
    this.opened = { protection, helper };
    streams.socket.write(GO);
  }
}

/** What the gate's program says, up to its NUL. Throws `SandboxError` when it ends before. */
async function toldAtGate({ socket, frames }: AttachedStreams): Promise<string> {
  const timer = setTimeout(() => socket.destroy(), GATE_MS);
  let told: Buffer = Buffer.alloc(0);
  try {
    for (let next = await frames.next(); next.done !== true; next = await frames.next()) {
      told = Buffer.concat([told, next.value.chunk]);
      const end = told.indexOf(0);
      if (end >= 0) return told.toString("utf8", 0, end);
      if (told.byteLength > MAX_TOLD_BYTES) break;
    }
    throw new Error("its stream ended");
  } catch (cause) {
    throw new SandboxError("start-failed", "a container did not come to its gate", { cause });
  } finally {
    clearTimeout(timer);
  }
}
