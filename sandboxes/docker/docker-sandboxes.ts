import { BenchError, messageOf } from "../../core/errors.ts";
import {
  type ImageRequest,
  type PreparedImage,
  type Sandbox,
  type SandboxBackend,
  type SandboxCaps,
  SandboxError,
  type SandboxRecord,
  type SandboxRequest,
} from "../../core/ports/sandbox.ts";
import { processState } from "../../host/process-identity.ts";
import { DockerImages } from "./docker-images.ts";
import { DockerSandbox } from "./docker-sandbox.ts";
import { EngineClient } from "./engine-client.ts";
import { configFolder, type EndpointOptions, resolveEndpoint } from "./engine-endpoint.ts";
import { HelperContainers } from "./helper-containers.ts";
import { hasHelpers } from "./helper-program.ts";
import { removeCachedImages } from "./image-cache.ts";
import { containerExists, listContainers, renameContainer } from "./list-containers.ts";
import { NetworkGuard } from "./network-guard.ts";
import { leaseName, SERVES_RUN } from "./ownership-labels.ts";
import { type DaemonFacts, probeDaemon } from "./probe-daemon.ts";
import { removeContainer } from "./remove-container.ts";
import { openRelay } from "./open-relay.ts";
import { killFromOutside, relayBeside } from "./sandbox-helpers.ts";
import { SandboxNetwork } from "./sandbox-network.ts";
import { LeftContainer, startContainer, type StartedSupervisor } from "./start-container.ts";
import { type OpenedNetwork, StartGate } from "./start-gate.ts";

export interface ConnectOptions extends EndpointOptions {
  /** The one thing to do without a daemon, for the error's second line. */
  readonly nextWithoutDaemon?: string;
}

interface BackendParts {
  readonly guard: NetworkGuard | null;
  readonly helpers: HelperContainers | null;
  readonly env: EndpointOptions["env"];
}

/** Sandboxes as containers of a Docker daemon, on this machine or elsewhere. */
export class DockerSandboxes implements SandboxBackend {
  readonly name = "docker";
  readonly caps: SandboxCaps;
  readonly #client: EngineClient;
  readonly #facts: DaemonFacts;
  readonly #guard: NetworkGuard | null;
  readonly #helpers: HelperContainers | null;
  readonly #images: DockerImages;
  #hasDiskQuota: boolean;

  private constructor(
    client: EngineClient,
    facts: DaemonFacts,
    { guard, helpers, env }: BackendParts,
  ) {
    this.#client = client;
    this.#facts = facts;
    this.#guard = guard;
    this.#helpers = helpers;
    this.#hasDiskQuota = facts.diskQuota !== "no";
    this.#images = new DockerImages(client, {
      platform: facts.platform,
      env,
      configDir: configFolder(env),
      withBuildNetwork: async ({ owner }, use) =>
        await (guard === null ? use("none") : guard.lend(owner, use)),
    });
    this.caps = capsOf(facts, guard !== null);
  }

  /**
   * Finds the daemon and asks it what it can. Reads no environment but the one passed in. Throws
   * `BenchError` (unavailable) when none answers.
   */
  static async connect(options: ConnectOptions): Promise<DockerSandboxes> {
    const endpoint = resolveEndpoint(options);
    try {
      const client = await EngineClient.connect(endpoint);
      const facts = await probeDaemon(client);
      const daemonNowMs = (): number => Date.now() + facts.clockOffsetMs;
      const { platform } = facts;
      const helpers = hasHelpers(platform)
        ? new HelperContainers(client, { platform, daemonNowMs })
        : null;
      const guard = helpers === null ? null : await NetworkGuard.open(client, helpers);
      return new DockerSandboxes(client, facts, { guard, helpers, env: options.env });
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      throw new BenchError("unavailable", `no docker daemon answers: ${messageOf(error)}`, {
        next: options.nextWithoutDaemon ?? "bench run TASKS --env local",
        cause: error,
      });
    }
  }

  /** What the daemon is, for `bench doctor`. */
  probe(): DaemonFacts {
    return this.#facts;
  }

  async prepare(request: ImageRequest): Promise<PreparedImage> {
    return await this.#images.prepare(request);
  }

  async create(request: SandboxRequest): Promise<Sandbox> {
    if (request.network === "public" && this.#guard === null)
      throw new SandboxError("unsupported", "this docker daemon gives no guarded network");
    if (request.network === "public") {
      const opened = await this.#createOpened(request);
      if (opened !== null) return opened;
    }
    const sandbox = this.#sandboxOf(request, await this.#start(request, null), null);
    if (request.network === "closed") return sandbox;
    try {
      await sandbox.network("public");
      request.signal.throwIfAborted();
      return sandbox;
    } catch (error) {
      await sandbox.destroy();
      throw error;
    }
  }

  async list(): Promise<readonly SandboxRecord[]> {
    const found = await listContainers(this.#client);
    const names = new Set(found.map(({ name }) => name));
    // A helper belongs to its sandbox; one whose sandbox is gone stands for itself, to be removed.
    const shown = found.filter(({ serves, owner }) =>
      serves === SERVES_RUN
        ? owner === null || processState(owner.process) !== "alive"
        : serves === null || !names.has(serves),
    );
    return shown.map((container) => {
      const { id, owner, createdAtMs, expiresAtMs } = container;
      return {
        id,
        owner,
        createdAt: this.#hostTime(createdAtMs),
        expiresAt: expiresAtMs === null ? null : this.#hostTime(expiresAtMs),
        ownerState: owner === null ? "unknown" : processState(owner.process),
      };
    });
  }

  /** Refuses what is not labelled as ours; what is gone already is fine. */
  async remove(id: string): Promise<void> {
    const found = await listContainers(this.#client);
    const container = found.find((each) => each.id === id);
    if (container === undefined) {
      if (await containerExists(this.#client, id))
        throw new SandboxError("not-found", `container ${id} was not made by bench`);
      return;
    }
    const helpers = found.filter(({ serves }) => serves === container.name);
    for (const each of [container, ...helpers]) await removeContainer(this.#client, each.id);
  }

  /** Removes the images that runs built and no live run or container needs; resolves to their names. */
  async removeImages(): Promise<readonly string[]> {
    return await removeCachedImages(this.#client);
  }

  rest(): void {
    this.#guard?.rest();
  }

  async close(): Promise<void> {
    // Other connections last as long as a request; the supervisors' close with their sandboxes.
    await this.#guard?.close();
  }

  /**
   * A sandbox that starts with its network, at the gate; null where that is not to be had, or fails for
   * whatever reason: the other way is slower, takes every image, and has the words for what is wrong.
   */
  async #createOpened(request: SandboxRequest): Promise<Sandbox | null> {
    const { owner, signal } = request;
    const lenderId = (await this.#guard?.lenderId(owner)) ?? null;
    if (this.#guard === null || lenderId === null) return null;
    const gate = new StartGate(this.#guard, owner, lenderId);
    try {
      return this.#sandboxOf(request, await this.#start(request, gate), gate.opened);
    } catch (error) {
      await gate.opened?.helper?.remove();
      signal.throwIfAborted();
      if (!(error instanceof SandboxError) || error instanceof LeftContainer) throw error;
      return null;
    }
  }

  async #start(request: SandboxRequest, gate: StartGate | null): Promise<StartedSupervisor> {
    const hasDiskQuota = this.#hasDiskQuota;
    const options = { request, hasDiskQuota, daemonNowMs: this.#daemonNowMs(), gate };
    try {
      return await startContainer(this.#client, options);
    } catch (error) {
      if (!hasDiskQuota || this.#facts.diskQuota !== "try") throw error;
      // The daemon does not say how its file system is mounted: only this tells that it has no quota.
      const started = await startContainer(this.#client, { ...options, hasDiskQuota: false });
      this.#hasDiskQuota = false;
      return started;
    }
  }

  #sandboxOf(
    request: SandboxRequest,
    { id, name, control }: StartedSupervisor,
    opened: OpenedNetwork | null,
  ): DockerSandbox {
    const served = { containerId: id, owner: request.owner, serves: name };
    const network = new SandboxNetwork(this.#guard, id, { ...served, opened });
    const { image } = request;
    const guard = this.#guard;
    const notes = [...this.#facts.notes, ...this.#images.notesOn(image.id)];
    return new DockerSandbox({
      id,
      client: this.#client,
      control,
      pidsLimit: request.limits.pids,
      isolation: {
        image: image.id,
        imageDigest: image.digest,
        seccomp: this.#facts.seccomp,
        // Read when a trial is sealed: only then is known how its network was set.
        get notes() {
          return [...notes, ...(guard?.notes ?? [])];
        },
      },
      setNetwork: async (policy, tools) => {
        await network.set(policy, tools);
      },
      killFromOutside: async (uid) => {
        if (this.#helpers !== null) await killFromOutside(this.#helpers, served, uid);
      },
      openRelay: async (socketPath) => {
        if (this.#helpers !== null)
          return await openRelay(await relayBeside(this.#helpers, served), socketPath);
        throw new SandboxError(
          "unsupported",
          `on ${this.#facts.platform} a docker sandbox has no way to the models`,
        );
      },
      renewLease: async (leaseMs) => {
        const query = { name: leaseName(name, this.#daemonNowMs() + leaseMs) };
        await renameContainer(this.#client, id, query);
      },
      remove: async () => {
        await Promise.all([removeContainer(this.#client, id), network.settle()]);
      },
    });
  }

  #daemonNowMs(): number {
    return Date.now() + this.#facts.clockOffsetMs;
  }

  /** A time of the daemon's clock as this machine's, so that callers compare with their own. */
  #hostTime(daemonMs: number): string {
    return new Date(daemonMs - this.#facts.clockOffsetMs).toISOString();
  }
}

function capsOf(facts: DaemonFacts, hasPublicNetwork: boolean): SandboxCaps {
  return {
    rootExec: true,
    uidSeparation: true,
    noNewPrivs: true,
    noNetwork: "phase",
    publicNetwork: hasPublicNetwork,
    compose: false,
    limits: facts.limits,
    maxCpus: facts.cpus,
    processors: facts.cpus,
    maxLifetimeMs: null,
    platform: facts.platform,
  };
}
