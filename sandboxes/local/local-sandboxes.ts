import { randomBytes } from "node:crypto";
import { existsSync, realpathSync, rmSync, statfsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, posix } from "node:path";
import { BenchError } from "../../core/errors.ts";
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
import { codeOf } from "../../host/error-code.ts";
import type { BootPlan, IncludedPath } from "./boot-tables.ts";
import { SandboxCgroup, cgroupFolders, removeStaleGroups } from "./cgroup/sandbox-cgroup.ts";
import { Gates } from "./command/gates.ts";
import { PipePool } from "./command/pipe-pool.ts";
import { openDiskTemplate } from "./disk-image.ts";
import { ImageStore } from "./image/image-store.ts";
import { LocalSandbox } from "./local-sandbox.ts";
import { type LocalProbe, probeLocal, refusalOf } from "./probe-local.ts";
import { type Powers, findPowers } from "./powers.ts";
import { removeSandbox } from "./remove-sandbox.ts";
import { type BaseRoot, openBaseRoot } from "./root/base-root.ts";
import { removeUnusedBases, useBase } from "./root/base-users.ts";
import { NamespaceGroup } from "./rootless/namespace-group.ts";
import type { SandboxGroup } from "./sandbox-group.ts";
import {
  createRecord,
  imagesInUse,
  isSandboxId,
  listRecords,
  sandboxDir,
} from "./sandbox-record-file.ts";
import { startSupervisor } from "./start-supervisor.ts";
import { StateFolder } from "./state-folder.ts";

export interface LocalOptions {
  /** Where sandboxes and images live: a folder of root's own, on a disk with room for them. */
  readonly stateDir: string;
  /** Host paths that sandboxes see read-only besides the allowlist; recorded in every result. */
  readonly localInclude: readonly string[];
}

interface OpenedParts {
  readonly state: StateFolder;
  readonly powers: Powers;
  readonly probe: LocalProbe;
  readonly base: BaseRoot;
  readonly includes: readonly IncludedPath[];
}

const GROUP_PREFIX = "bench-local-";

/** Below this, a disk counts as full: a sandbox would end in the middle of its work. */
const MIN_FREE_BYTES = 256 * 1024 * 1024;

/**
 * Sandboxes made of this machine's own programs: overlayfs, namespaces, cgroups and a system call
 * filter, put together with util-linux. Their image is the host (`/usr` and the package manager's
 * state), plus what the task's Dockerfile adds.
 */
export class LocalSandboxes implements SandboxBackend {
  readonly name = "local";
  readonly caps: SandboxCaps;
  readonly #state: StateFolder;
  readonly #powers: Powers;
  readonly #probe: LocalProbe;
  readonly #base: BaseRoot;
  readonly #includes: readonly IncludedPath[];
  readonly #images: ImageStore;
  readonly #pipesDir: string;
  readonly #pipes: PipePool;

  private constructor({ state, powers, probe, base, includes }: OpenedParts) {
    this.#state = state;
    this.#powers = powers;
    this.#probe = probe;
    this.#base = base;
    this.#includes = includes;
    this.caps = capsOf(probe);
    this.#images = new ImageStore({
      state,
      base,
      platform: this.caps.platform,
      create: async (image, request) =>
        await this.#create({ ...request, image, network: "closed", env: {} }),
    });
    this.#pipesDir = state.stage();
    this.#pipes = new PipePool(this.#pipesDir);
  }

  /** Opens the backend. Throws a `BenchError` that says what is missing here and what to do. */
  static async open(options: LocalOptions): Promise<LocalSandboxes> {
    const early = refusalOf(await probeLocal(null));
    if (early !== null) throw refused(early);
    const state = new StateFolder(options.stateDir);
    const probe = await probeLocal(state);
    const refusal = refusalOf(probe);
    if (refusal !== null) throw refused(refusal);
    await state.sweep();
    removeStaleGroups(probe.cgroups, GROUP_PREFIX);
    const includes = options.localInclude.map(resolveInclude);
    const powers = findPowers();
    const base = await openBaseRoot(
      state,
      includes.map(({ path }) => path),
      powers,
    );
    useBase(state, base);
    return new LocalSandboxes({ state, powers, probe, base, includes });
  }

  /** What works here and what does not, one check each; changes nothing. */
  static async probe(stateDir: string): Promise<LocalProbe> {
    const early = await probeLocal(null);
    return refusalOf(early) === null ? await probeLocal(new StateFolder(stateDir)) : early;
  }

  async prepare(request: ImageRequest): Promise<PreparedImage> {
    return await this.#images.prepare(request);
  }

  async create(request: SandboxRequest): Promise<Sandbox> {
    return await this.#create(request);
  }

  async #create(request: SandboxRequest): Promise<LocalSandbox> {
    request.signal.throwIfAborted();
    this.#assertSpace();
    const id = `local-${randomBytes(8).toString("hex")}`;
    const group = `bench-${id}`;
    const cgroup = this.#groupOf(group);
    const { owner } = request;
    const cgroups = cgroupFolders(this.#probe.cgroups, group);
    createRecord(this.#state, { id, owner, image: request.image.id, cgroups });
    const gates = new Gates({ pipes: this.#pipes, cgroup, seccomp: this.#probe.hasSeccomp });
    try {
      cgroup.make(request.limits);
      gates.prepare();
      const plan = await this.#planBoot(id, request);
      const supervisor = await startSupervisor(plan, {
        joinFiles: cgroup.joinFiles,
        seccomp: this.#probe.hasSeccomp,
        signal: request.signal,
      });
      cgroup.started(supervisor);
      return new LocalSandbox({
        id,
        supervisor,
        cgroup,
        gates,
        state: this.#state,
        foreignUid: this.#powers.foreignUid,
        commands: new Set(),
        hasDiskLimit: plan.diskTemplate !== null,
        ownMounts: [...this.#base.system.trees.map(({ path }) => path), "dev/shm"],
        isolation: this.#isolationOf(request),
      });
    } catch (error) {
      await Promise.all([removeSandbox(this.#state, id), gates.close()]);
      throw codeOf(error) === "ENOSPC" ? this.#diskFull(error) : error;
    }
  }

  async list(): Promise<readonly SandboxRecord[]> {
    return listRecords(this.#state);
  }

  async remove(id: string): Promise<void> {
    if (!isSandboxId(id))
      throw new SandboxError("not-found", `${JSON.stringify(id)} is no local sandbox`);
    await removeSandbox(this.#state, id);
  }

  /** Removes built images that no sandbox runs on, and what past states of this machine left below them. */
  async removeImages(): Promise<readonly string[]> {
    const images = await this.#images.removeUnused(imagesInUse(this.#state));
    return [...images, ...(await removeUnusedBases(this.#state, this.#base))];
  }

  async close(): Promise<void> {
    // Named pipes of ours, which nobody else reached.
    rmSync(this.#pipesDir, { recursive: true, force: true });
  }

  #groupOf(name: string): SandboxGroup {
    const { cgroups } = this.#probe;
    return cgroups.tracking === null ? new NamespaceGroup() : new SandboxCgroup(cgroups, name);
  }

  async #planBoot(id: string, request: SandboxRequest): Promise<BootPlan> {
    const { image, limits, mounts = [] } = request;
    const layers = this.#images.layersOf(image.id);
    const { system, path: base, ownLayers } = this.#base;
    const lower = (treeId: string, bottom: string): string => {
      const layer = layers.get(treeId);
      return layer === undefined ? bottom : `../../${layer}:${bottom}`;
    };
    const over = (treeId: string): string =>
      ownLayers === null ? "" : `../../${base}/${ownLayers}/${treeId}:`;
    return {
      dir: sandboxDir(this.#state, id),
      diskTemplate: this.#probe.hasDiskLimit
        ? await openDiskTemplate(this.#state, this.#base, limits.storageMb)
        : null,
      powers: this.#powers,
      base: join(this.#state.dir, base),
      rootLower: lower("root", `../../${base}/root`),
      treeLowers: system.trees.map(({ id: treeId, path }) => ({
        id: treeId,
        path,
        lower: lower(treeId, `${over(treeId)}/${path}`),
      })),
      system,
      includes: this.#includes,
      mounts,
    };
  }

  #isolationOf(request: SandboxRequest): Sandbox["isolation"] {
    const notes = [...this.#images.notesOf(request.image.id)];
    notes.push(...this.#includes.map(({ path }) => `host path included: ${path}`));
    if (!this.#probe.hasDiskLimit) notes.push("no disk limit");
    if (request.network === "public") notes.push("open internet asked for, none on local");
    return {
      image: "host",
      imageDigest: request.image.digest,
      seccomp: this.#probe.hasSeccomp ? "docker" : "none",
      notes,
    };
  }

  #assertSpace(): void {
    const { bavail, bsize } = statfsSync(this.#state.dir);
    if (bavail * bsize < MIN_FREE_BYTES) throw this.#diskFull();
  }

  #diskFull(cause?: unknown): SandboxError {
    return new SandboxError("disk-full", `no space for a sandbox in ${this.#state.dir}`, { cause });
  }
}

/** What a machine of this probe can hold. */
export function capsOf({ cgroups, hasDiskLimit }: LocalProbe): SandboxCaps {
  return {
    rootExec: true,
    uidSeparation: true,
    noNewPrivs: true,
    noNetwork: "phase",
    publicNetwork: false,
    compose: false,
    limits: {
      memory: cgroups.limits.memory !== undefined,
      cpu: cgroups.limits.cpu !== undefined,
      pids: cgroups.limits.pids !== undefined,
      disk: hasDiskLimit,
    },
    maxCpus: null,
    processors: availableParallelism(),
    maxLifetimeMs: null,
    platform: `linux/${process.arch === "x64" ? "amd64" : process.arch}`,
  };
}

function refused(check: { readonly detail: string; readonly next: string }): BenchError {
  return new BenchError("unavailable", `local sandboxes do not work here: ${check.detail}`, {
    next: check.next,
  });
}

/** Kernel file systems are the sandbox's own, and `/` would be everything. */
const NOT_INCLUDED = /^\/(proc|sys|dev)?(\/|$)/u;

function resolveInclude(path: string): IncludedPath {
  const isPlain = path === posix.resolve("/", path).replace(/\/$/u, "");
  if (!isPlain || NOT_INCLUDED.test(path) || !existsSync(path))
    throw new BenchError("usage", `--local-include ${path} is no absolute path that can be shown`, {
      next: "give the absolute path of a folder or file that is there, outside /proc, /sys and /dev",
    });
  return { path, resolved: realpathSync(path) };
}
