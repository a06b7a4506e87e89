import { type NetworkPolicy, SandboxError, type SandboxOwner } from "../../core/ports/sandbox.ts";
import type { Freezer } from "./freezer.ts";
import type { Helper } from "./helper-containers.ts";
import type { NetworkGuard, Protected } from "./network-guard.ts";
import type { OpenedNetwork } from "./start-gate.ts";
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
  readonly #removals: Promise<void>[] = [];
  #policy: NetworkPolicy = "closed";

  /** `opened` is how the container was started with a network already. */
  constructor(
    guard: NetworkGuard | null,
    containerId: string,
    { opened, ...served }: Served & { readonly opened: OpenedNetwork | null },
  ) {
    this.#guard = guard;
    this.#containerId = containerId;
    this.#served = served;
    if (opened === null) return;
    this.#policy = "public";
    this.#protection = opened.protection;
    if (opened.helper !== null) this.#removeLater(opened.helper);
  }

  async set(policy: NetworkPolicy, tools: NetworkTools): Promise<void> {
    if (policy === this.#policy) return;
    if (this.#guard === null)
      throw new SandboxError("unsupported", "this docker daemon gives no guarded network");
    if (policy === "closed") await this.#guard.detach(this.#containerId);
    else await this.#open(this.#guard, tools);
    this.#policy = policy;
  }

  /** Resolves when nothing of the changes is under way any more. */
  async settle(): Promise<void> {
    await Promise.all(this.#removals);
  }

  /** Nothing of the sandbox runs while it has a network and no walls yet. */
  async #open(guard: NetworkGuard, { ask, freezer }: NetworkTools): Promise<void> {
    const nameServers = this.#protection?.nameServers ?? (await readNameServers(ask));
    const protection = { ...this.#served, nameServers };
    await freezer.freeze();
    try {
      if (this.#protection !== null) await guard.release(this.#containerId, protection);
      await this.#attachAndShut(guard, protection);
    } finally {
      await freezer.thaw();
    }
  }

  async #attachAndShut(guard: NetworkGuard, protection: Protected): Promise<void> {
    try {
      await guard.attach(this.#containerId);
      const helper = await guard.shut(this.#containerId, protection);
      if (helper !== null) this.#removeLater(helper);
      this.#protection = protection;
    } catch (error) {
      await guard.detach(this.#containerId);
      throw error;
    }
  }

  /** A helper that has done its work need not be waited for; `settle` sees to it. */
  #removeLater(helper: Helper): void {
    const removal = helper.remove();
    removal.catch(() => undefined);
    this.#removals.push(removal);
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
