import { createHash } from "node:crypto";
import type {
  ImageRequest,
  PreparedImage,
  Sandbox,
  SandboxBackend,
  SandboxCaps,
  SandboxRecord,
  SandboxRequest,
} from "../../../core/ports/sandbox.ts";
import { processState } from "../../../host/process-identity.ts";
import type { MemoryProgram } from "./memory-program.ts";
import { MemorySandbox } from "./memory-sandbox.ts";

/** What memory can hold: programs are code of the test, so no wall but the missing network is real. */
export const MEMORY_CAPS: SandboxCaps = {
  rootExec: false,
  uidSeparation: false,
  noNewPrivs: false,
  noNetwork: "phase",
  publicNetwork: false,
  compose: false,
  limits: { memory: false, cpu: false, pids: false, disk: false },
  maxCpus: null,
  processors: null,
  maxLifetimeMs: null,
  platform: "linux/amd64",
};

interface Held {
  readonly sandbox: MemorySandbox;
  readonly record: SandboxRecord;
}

export interface MemorySandboxOptions {
  readonly programs?: ReadonlyMap<string, MemoryProgram>;
  readonly caps?: SandboxCaps;
}

/**
 * A sandbox backend in memory. It keeps every promise of the port that needs no shell, and the test
 * says what the programs do that the runner calls.
 */
export class MemorySandboxes implements SandboxBackend {
  readonly name = "local";
  readonly caps: SandboxCaps;
  /** Requests for images, in order. */
  readonly prepared: ImageRequest[] = [];
  /** Requests for sandboxes, in order. */
  readonly created: SandboxRequest[] = [];
  /** Throw from these to fail as a backend does. */
  beforePrepare: (request: ImageRequest) => Promise<void> | void = () => undefined;
  beforeCreate: (request: SandboxRequest) => Promise<void> | void = () => undefined;
  /** Digest of what a build gives; another one for the same context is a base that moved on. */
  digestOf: (request: ImageRequest) => string = (request) => sha256(JSON.stringify(request.source));
  isClosed = false;
  readonly #held = new Map<string, Held>();
  readonly #programs: ReadonlyMap<string, MemoryProgram>;
  #count = 0;

  constructor({ programs = new Map(), caps = MEMORY_CAPS }: MemorySandboxOptions = {}) {
    this.#programs = programs;
    this.caps = caps;
  }

  async prepare(request: ImageRequest): Promise<PreparedImage> {
    request.signal.throwIfAborted();
    this.prepared.push(request);
    await this.beforePrepare(request);
    const digest = this.digestOf(request);
    return { id: digest, digest, workdir: "/app", env: {}, user: "root", builtHere: true };
  }

  async create(request: SandboxRequest): Promise<Sandbox> {
    request.signal.throwIfAborted();
    this.created.push(request);
    await this.beforeCreate(request);
    const id = `memory-${String((this.#count += 1))}`;
    const { owner, image } = request;
    const sandbox = new MemorySandbox({
      id,
      owner,
      imageDigest: image.digest,
      programs: this.#programs,
      renew: (leaseMs) => this.#hold(id, sandbox, { ...request, owner: { ...owner, leaseMs } }),
      forget: () => void this.#held.delete(id),
    });
    this.#hold(id, sandbox, request);
    return sandbox;
  }

  async list(): Promise<readonly SandboxRecord[]> {
    return [...this.#held.values()].map(({ record }) => record);
  }

  async remove(id: string): Promise<void> {
    await this.#held.get(id)?.sandbox.vanish();
  }

  async removeImages(): Promise<readonly string[]> {
    return [];
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  /** The sandboxes that exist, by the attempt that made them. */
  get alive(): readonly string[] {
    return [...this.#held.values()].map(({ record }) => record.owner?.rolloutName ?? "");
  }

  /** The sandbox of an attempt is gone from one moment to the next, as when a machine takes it away. */
  async vanish(rolloutName: string): Promise<void> {
    const found = [...this.#held].find(
      ([, { record }]) => record.owner?.rolloutName === rolloutName,
    );
    if (found === undefined) throw new Error(`no sandbox of ${rolloutName}`);
    await this.remove(found[0]);
  }

  #hold(id: string, sandbox: MemorySandbox, { owner }: SandboxRequest): void {
    const createdAt = this.#held.get(id)?.record.createdAt ?? new Date().toISOString();
    const expiresAt = new Date(Date.now() + owner.leaseMs).toISOString();
    const ownerState = processState(owner.process);
    this.#held.set(id, { sandbox, record: { id, owner, createdAt, expiresAt, ownerState } });
  }
}

function sha256(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
