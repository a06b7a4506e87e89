import { isIPv4 } from "node:net";
import { networkInterfaces } from "node:os";
import * as z from "zod";
import { SandboxError, type SandboxOwner } from "../../core/ports/sandbox.ts";
import { readTar } from "../../core/tar/read-tar.ts";
import type { TarHeader } from "../../core/tar/tar-entry.ts";
import { writeTar } from "../../core/tar/write-tar.ts";
import type { EngineClient } from "./engine-client.ts";
import { asSandboxError, hasStatus } from "./engine-error.ts";
import { canGuard, guardProgram, programDigest } from "./guard-program.ts";
import { guardMessages, releaseMessages } from "./guard-rules.ts";
import { OWN_REPOSITORY } from "./image-reference.ts";
import { inspectImage } from "./inspect-image.ts";
import { leaseName, newSandboxName, ownershipLabels, SERVES_LABEL } from "./ownership-labels.ts";
import { removeContainer } from "./remove-container.ts";
import { readStdioFrames } from "./stdio-frames.ts";

const Created = z.looseObject({ Id: z.string() });
const Network = z.looseObject({
  IPAM: z
    .looseObject({ Config: z.array(z.looseObject({ Subnet: z.string().optional() })).nullish() })
    .nullish(),
});

/** The daemon's default network: no trial takes one of the pool, which has about thirty. */
const BRIDGE = "bridge";
const GUARD_MS = 60_000;

export interface GuardSettings {
  readonly platform: string;
  readonly daemonNowMs: () => number;
}

interface GuardRun {
  readonly network: string;
  readonly owner: SandboxOwner;
  /** The name of the sandbox that it is for; null for one that stands for itself. */
  readonly serves: string | null;
  readonly messages: readonly Buffer[];
  readonly holds: boolean;
}

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
 * are two steps: the caller sees to it that no process of the sandbox runs between them.
 */
export class NetworkGuard {
  readonly #client: EngineClient;
  readonly #settings: GuardSettings;
  readonly #closed: readonly string[];

  private constructor(client: EngineClient, settings: GuardSettings, closed: readonly string[]) {
    this.#client = client;
    this.#settings = settings;
    this.#closed = closed;
  }

  /** null where the daemon has no default network, or runs on a processor that the guard does not know. */
  static async open(client: EngineClient, settings: GuardSettings): Promise<NetworkGuard | null> {
    if (!canGuard(settings.platform)) return null;
    try {
      const { IPAM } = await client.json(Network, "GET", `/networks/${BRIDGE}`);
      const subnets = (IPAM?.Config ?? []).map(({ Subnet }) => Subnet ?? "");
      return new NetworkGuard(client, settings, [...subnets, ...hostAddresses(client)]);
    } catch (error) {
      if (hasStatus(error, 404)) return null;
      throw asSandboxError(error, "backend-unavailable", "cannot look up docker's default network");
    }
  }

  /** Closes the private ranges in a running container. */
  async protect(containerId: string, { owner, serves, nameServers }: Protected): Promise<void> {
    const messages = guardMessages({ closed: this.#closed, nameServers });
    const network = `container:${containerId}`;
    await this.#run({ network, owner, serves, messages, holds: false });
  }

  /** Takes the rules away again, so that a network can be attached anew. */
  async release(containerId: string, { owner, serves, nameServers }: Protected): Promise<void> {
    const messages = releaseMessages({ closed: this.#closed, nameServers });
    const network = `container:${containerId}`;
    await this.#run({ network, owner, serves, messages, holds: false });
  }

  async attach(containerId: string): Promise<void> {
    await this.#connection("connect", containerId);
  }

  async detach(containerId: string): Promise<void> {
    await this.#connection("disconnect", containerId);
  }

  /** Lends a guarded network to RUN steps, held by a container that lives as long as the build. */
  async lend<Value>(owner: SandboxOwner, use: (network: string) => Promise<Value>): Promise<Value> {
    const holder = await this.#run({
      network: "none",
      owner,
      serves: null,
      messages: [],
      holds: true,
    });
    try {
      const nameServers = await readNameServers(this.#client, holder);
      await this.attach(holder);
      await this.protect(holder, { owner, serves: null, nameServers });
      return await use(`container:${holder}`);
    } finally {
      await removeContainer(this.#client, holder);
    }
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

  async #run(run: GuardRun): Promise<string> {
    const { platform, daemonNowMs } = this.#settings;
    const image = await this.#loadProgram(guardProgram(platform, run.messages, run.holds));
    const name = leaseName(newSandboxName(), daemonNowMs() + run.owner.leaseMs);
    try {
      const query = { name };
      const json = guardBody(image, run);
      const { Id } = await this.#client.json(Created, "POST", "/containers/create", {
        query,
        json,
      });
      await this.#startAndWait(Id);
      if (!run.holds) await removeContainer(this.#client, Id);
      return Id;
    } catch (error) {
      await removeContainer(this.#client, name);
      throw asSandboxError(error, "start-failed", "cannot guard the network");
    }
  }

  async #startAndWait(id: string): Promise<void> {
    const query = { stream: 1, stdin: 1, stdout: 1, stderr: 1 };
    const socket = await this.#client.hijack(`/containers/${id}/attach`, { query });
    const timer = setTimeout(() => socket.destroy(), GUARD_MS);
    try {
      await this.#client.run("POST", `/containers/${id}/start`);
      for await (const { chunk } of readStdioFrames(keepOpen(socket)))
        if (Buffer.from(chunk).toString("latin1") === "ok\n") return;
      throw new SandboxError("unsupported", "the kernel of the docker host takes no routing rules");
    } finally {
      clearTimeout(timer);
    }
  }

  async #loadProgram(program: Buffer): Promise<string> {
    const repository = `${OWN_REPOSITORY}/network-guard`;
    const tag = programDigest(program);
    const known = await inspectImage(this.#client, `${repository}:${tag}`);
    if (known !== null) return known.id;
    await this.#client.run("POST", "/images/create", {
      query: { fromSrc: "-", repo: repository, tag, platform: this.#settings.platform },
      body: writeTar([{ header: programHeader(program.byteLength), content: [program] }]),
    });
    const loaded = await inspectImage(this.#client, `${repository}:${tag}`);
    if (loaded === null)
      throw new SandboxError("image-missing", "the network guard was not loaded");
    return loaded.id;
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
    const text = Buffer.concat(chunks).toString("utf8");
    servers.push(
      ...[...text.matchAll(/^nameserver\s+(\S+)/gmu)].map(([, address = ""]) => address),
    );
  }
  return servers;
}

/** The stream without its end: leaving the loop over it must not hang up on a guard that holds. */
async function* keepOpen(socket: NodeJS.ReadableStream): AsyncGenerator<Uint8Array> {
  const chunks = socket[Symbol.asyncIterator]();
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next())
    yield Buffer.from(next.value);
}

function guardBody(image: string, run: GuardRun): Record<string, unknown> {
  return {
    Image: image,
    User: "0:0",
    Entrypoint: ["/guard"],
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Labels: {
      ...ownershipLabels(run.owner),
      ...(run.serves === null ? {} : { [SERVES_LABEL]: run.serves }),
    },
    HostConfig: {
      NetworkMode: run.network,
      CapDrop: ["ALL"],
      CapAdd: ["NET_ADMIN"],
      SecurityOpt: ["no-new-privileges"],
      ReadonlyRootfs: true,
      PidsLimit: 4,
      RestartPolicy: { Name: "no" },
      LogConfig: { Type: "none" },
    },
  };
}

function programHeader(sizeBytes: number): TarHeader {
  const name = Buffer.from("guard");
  const none = new Uint8Array();
  return {
    kind: "file",
    name,
    mode: 0o755,
    uid: 0,
    gid: 0,
    sizeBytes,
    mtimeSeconds: 0,
    linkName: none,
  };
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
