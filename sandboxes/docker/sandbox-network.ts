import { type NetworkPolicy, SandboxError, type SandboxOwner } from "../../core/ports/sandbox.ts";
import type { Freezer } from "./freezer.ts";
import type { NetworkGuard, Protected } from "./network-guard.ts";
import type { Ask } from "./walk-path.ts";

interface Served {
  readonly owner: SandboxOwner;
  /** The sandbox's name, for the helper's label. */
  readonly serves: string;
}

/** What a change of the network needs of the running sandbox. */
export interface NetworkTools {
  readonly ask: Ask;
  readonly freezer: Freezer;
}

/** The network of one sandbox: none, or the open internet behind the guard, switched as phases ask. */
export class SandboxNetwork {
  readonly #guard: NetworkGuard | null;
  readonly #containerId: string;
  readonly #served: Served;
  #protection: Protected | null = null;
  #policy: NetworkPolicy = "closed";

  constructor(guard: NetworkGuard | null, containerId: string, served: Served) {
    this.#guard = guard;
    this.#containerId = containerId;
    this.#served = served;
  }

  async set(policy: NetworkPolicy, tools: NetworkTools): Promise<void> {
    if (policy === this.#policy) return;
    if (this.#guard === null)
      throw new SandboxError("unsupported", "this docker daemon gives no guarded network");
    if (policy === "closed") await this.#guard.detach(this.#containerId);
    else await this.#open(this.#guard, tools);
    this.#policy = policy;
  }

  /** Nothing of the sandbox runs while it has a network and no walls yet. */
  async #open(guard: NetworkGuard, { ask, freezer }: NetworkTools): Promise<void> {
    const nameServers = this.#protection?.nameServers ?? (await readNameServers(ask));
    const protection = { ...this.#served, nameServers };
    if (this.#protection !== null) await guard.release(this.#containerId, protection);
    await freezer.freeze();
    try {
      await guard.attach(this.#containerId);
      await guard.protect(this.#containerId, protection);
      this.#protection = protection;
    } catch (error) {
      await guard.detach(this.#containerId);
      throw error;
    } finally {
      await freezer.thaw();
    }
  }
}

/** The name servers that the daemon wrote into the sandbox's resolv.conf. */
async function readNameServers(ask: Ask): Promise<readonly string[]> {
  const lines = await ask((sequence) => Buffer.from(`files ${sequence} /etc/resolv.conf\n`));
  return lines.flatMap((line) => {
    const [, address] = /^\/etc\/resolv\.conf nameserver\s+(\S+)/u.exec(line) ?? [];
    return address === undefined ? [] : [address];
  });
}
