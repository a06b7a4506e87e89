import { isIPv4 } from "node:net";
import { networkInterfaces } from "node:os";
import * as z from "zod";
import type { SandboxOwner } from "../../core/ports/sandbox.ts";
import { readTar } from "../../core/tar/read-tar.ts";
import type { EngineClient } from "./engine-client.ts";
import { asSandboxError, hasStatus } from "./engine-error.ts";
import { guardMessages, releaseMessages } from "./guard-rules.ts";
import { type Helper, type HelperContainers, useHelper } from "./helper-containers.ts";
import { guardProgram } from "./helper-program.ts";
import { NetworkKeeper } from "./network-keeper.ts";

const Network = z.looseObject({
  IPAM: z
    .looseObject({ Config: z.array(z.looseObject({ Subnet: z.string().optional() })).nullish() })
    .nullish(),
});

/** The daemon's default network: no trial takes one of the pool, which has about thirty. */
export const BRIDGE = "bridge";

/** A container to protect. */
export interface Protected {
  readonly owner: SandboxOwner;
  readonly serves: string | null;
  /** Name servers of its resolv.conf. */
  readonly nameServers: readonly string[];
}

/**
 * Puts containers on the open internet with the private ranges closed. Routing rules inside the
 * container's own network namespace do it, set by a helper container that shares only that namespace;
 * the sandbox lacks the capability to take them away. Attaching a network and closing the ranges
 * are two steps: the caller sees to it that no process of the sandbox runs between them, or none but the
 * gate's program.
 */
export class NetworkGuard {
  readonly #client: EngineClient;
  readonly #helpers: HelperContainers;
  readonly #keeper: NetworkKeeper;
  readonly #closed: readonly string[];

  private constructor(client: EngineClient, helpers: HelperContainers, closed: readonly string[]) {
    this.#client = client;
    this.#helpers = helpers;
    this.#keeper = new NetworkKeeper(client, helpers);
    this.#closed = closed;
  }

  /** null where the daemon has no default network. */
  static async open(client: EngineClient, helpers: HelperContainers): Promise<NetworkGuard | null> {
    try {
      const { IPAM } = await client.json(Network, "GET", `/networks/${BRIDGE}`);
      const subnets = (IPAM?.Config ?? []).map(({ Subnet }) => Subnet ?? "");
      return new NetworkGuard(client, helpers, [...subnets, ...hostAddresses(client)]);
    } catch (error) {
      if (hasStatus(error, 404)) return null;
      throw asSandboxError(error, "backend-unavailable", "cannot look up docker's default network");
    }
  }

  /** The container from which the gate's program can be mounted; null where this daemon gives none. */
  async lenderId(owner: SandboxOwner): Promise<string | null> {
    return await this.#keeper.lenderId(owner);
  }

  /** What a person should know of how the rules were set. */
  get notes(): readonly string[] {
    const { refusal } = this.#keeper;
    return refusal === null
      ? []
      : [`each sandbox's network took a container of its own: ${refusal}`];
  }

  /** Ends what is kept for the next sandbox, which makes it anew. */
  rest(): void {
    this.#keeper.rest();
  }

  async close(): Promise<void> {
    await this.#keeper.close();
  }

  /**
   * Closes the private ranges in a running container whose processes stand still or wait at the gate. Resolves to a
   * helper that is to be removed, where one was needed.
   */
  async shut(containerId: string, protection: Protected): Promise<Helper | null> {
    const messages = guardMessages({ closed: this.#closed, ...protection });
    if (await this.#keeper.send(containerId, protection.owner, messages)) return null;
    const closer = await this.#closer(containerId, protection);
    try {
      await closer.start();
      return closer;
    } catch (error) {
      await closer.remove();
      throw error;
    }
  }

  /** Takes the rules away again, so that a network can be attached anew. */
  async release(containerId: string, protection: Protected): Promise<void> {
    const messages = releaseMessages({ closed: this.#closed, ...protection });
    if (await this.#keeper.send(containerId, protection.owner, messages)) return;
    await useHelper(await this.#helper(`container:${containerId}`, protection, messages));
  }

  /** Makes a helper that closes the private ranges in a running container when it is started. */
  async #closer(containerId: string, protection: Protected): Promise<Helper> {
    const { nameServers } = protection;
    const messages = guardMessages({ closed: this.#closed, nameServers });
    return await this.#helper(`container:${containerId}`, protection, messages);
  }

  async attach(containerId: string): Promise<void> {
    await this.#connection("connect", containerId);
  }

  async detach(containerId: string): Promise<void> {
    await this.#connection("disconnect", containerId);
  }

  /** Lends a guarded network to RUN steps, held by a container that lives as long as the build. */
  async lend<Value>(owner: SandboxOwner, use: (network: string) => Promise<Value>): Promise<Value> {
    const protection = { owner, serves: null, nameServers: [] };
    const holder = await this.#helper("none", protection, "hold");
    try {
      await holder.start();
      const nameServers = await readNameServers(this.#client, holder.id);
      await this.attach(holder.id);
      await useHelper(await this.#closer(holder.id, { ...protection, nameServers }));
      return await use(`container:${holder.id}`);
    } finally {
      await holder.remove();
    }
  }

  async #helper(
    network: string,
    { owner, serves }: Protected,
    work: readonly Buffer[] | "hold",
  ): Promise<Helper> {
    const messages = work === "hold" ? [] : work;
    const program = guardProgram(this.#helpers.platform, messages, work === "hold");
    const capabilities = ["NET_ADMIN"];
    return await this.#helpers.make({ program, owner, serves, network, uid: 0, capabilities });
  }

  async #connection(change: "connect" | "disconnect", containerId: string): Promise<void> {
    const call = async (network: string, verb: string): Promise<void> => {
      await this.#client.run("POST", `/networks/${network}/${verb}`, {
        json: { Container: containerId, Force: verb === "disconnect" },
      });
    };
    try {
      // A container on the network "none" cannot be on another one beside it.
      if (change === "connect") await call("none", "disconnect").catch(ignoreRefusal);
      await call(BRIDGE, change);
    } catch (error) {
      throw asSandboxError(error, "start-failed", `cannot ${change} the network`);
    }
  }
}

/** The daemon writes resolv.conf into a container when it starts; no image has a say in it. */
async function readNameServers(client: EngineClient, containerId: string): Promise<string[]> {
  const query = { path: "/etc/resolv.conf" };
  const archive = await client.call("GET", `/containers/${containerId}/archive`, { query });
  const servers: string[] = [];
  for await (const { content } of readTar(archive)) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    servers.push(...nameServersIn(Buffer.concat(chunks).toString("utf8")));
  }
  return servers;
}

/** The addresses that a resolv.conf names, in its order. */
export function nameServersIn(text: string): string[] {
  return [...text.matchAll(/^nameserver\s+(\S+)/gmu)].map(([, address = ""]) => address);
}

/** Addresses by which containers would reach this machine, when the daemon runs on it. */
function hostAddresses({ endpoint }: EngineClient): string[] {
  if (endpoint.kind === "tcp") return isIPv4(endpoint.host) ? [endpoint.host] : [];
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all
    .filter(({ family, internal }) => family === "IPv4" && !internal)
    .map(({ address }) => address);
}

function ignoreRefusal(error: unknown): void {
  // Not on that network any more: what was wanted.
  if (!hasStatus(error, 403, 404, 409, 500)) throw error;
}
