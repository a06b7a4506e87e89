import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { PreparedImage, Sandbox, SandboxOwner } from "../../../core/ports/sandbox.ts";
import { identifyProcess } from "../../../host/process-identity.ts";
import type {
  SandboxFixture,
  SandboxOverrides,
} from "../../../sandboxes/contract/sandbox-promise.ts";
import { DockerSandboxes } from "../../../sandboxes/docker/docker-sandboxes.ts";
import { dockerHost } from "../../setup/docker-host.ts";
import { RawEngine } from "./raw-engine.ts";

export const OWNER: SandboxOwner = {
  runId: "contract-run",
  jobName: "2026-01-01__00-00-00",
  rolloutName: "contract__0123abcd",
  process: identifyProcess(),
  leaseMs: 600_000,
};

export const LIMITS = { cpus: 2, memoryMb: 1024, storageMb: 1024, pids: 256 };

/** A backend on the tests' daemon, and a look at that daemon that does not go through the backend. */
export class DockerFixture implements SandboxFixture {
  readonly backend: DockerSandboxes;
  readonly image: PreparedImage;
  readonly owner = OWNER;
  readonly raw: RawEngine;
  readonly #made: Sandbox[] = [];
  #shared: Promise<Sandbox> | null = null;

  private constructor(backend: DockerSandboxes, image: PreparedImage, raw: RawEngine) {
    this.backend = backend;
    this.image = image;
    this.raw = raw;
  }

  static async open(reference: string): Promise<DockerFixture> {
    const host = dockerHost();
    const backend = await DockerSandboxes.connect({ env: { DOCKER_HOST: host } });
    const image = await backend.prepare({
      source: { kind: "prebuilt", reference },
      contextDir: "/nonexistent",
      baseImageMap: {},
      timeoutMs: 60_000,
      limits: LIMITS,
      owner: OWNER,
      signal: new AbortController().signal,
      onLine: () => undefined,
    });
    return new DockerFixture(backend, image, new RawEngine(host));
  }

  readonly makeSandbox = async (overrides: SandboxOverrides = {}): Promise<Sandbox> => {
    const sandbox = await this.backend.create({
      image: this.image,
      owner: OWNER,
      limits: LIMITS,
      network: "closed",
      env: {},
      signal: new AbortController().signal,
      ...overrides,
    });
    this.#made.push(sandbox);
    return sandbox;
  };

  readonly sharedSandbox = async (): Promise<Sandbox> => {
    this.#shared ??= this.backend.create({
      image: this.image,
      owner: OWNER,
      limits: LIMITS,
      network: "closed",
      env: {},
      signal: new AbortController().signal,
    });
    return await this.#shared;
  };

  /** Destroys what a check made; the shared sandbox stays. */
  async endSandboxes(): Promise<void> {
    await Promise.all(this.#made.splice(0).map((sandbox) => sandbox.destroy()));
  }

  async close(): Promise<void> {
    await this.endSandboxes();
    await (await this.#shared)?.destroy();
    await this.backend.close();
  }

  readonly leftovers = async (id: string): Promise<readonly string[]> => {
    const containers = await this.raw.list("/containers/json?all=1");
    const lines = containers
      .filter((each) => JSON.stringify(each).includes(id))
      .map(() => `container ${id}`);
    return [...lines, ...hostLeftovers(id)];
  };

  /** Everything of ours that the daemon still holds, whichever sandbox it was for. */
  async allLeftovers(): Promise<readonly string[]> {
    const filters = encodeURIComponent(JSON.stringify({ label: ["benchflow.run=contract-run"] }));
    const containers = await this.raw.list(`/containers/json?all=1&filters=${filters}`);
    return containers.map((each) => JSON.stringify(each));
  }
}

/** Mounts, control groups and processes of a container, when the daemon is on this machine. */
function hostLeftovers(id: string): string[] {
  const mounts = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .filter((line) => line.includes(id));
  const groups = execFileSync("find", ["/sys/fs/cgroup", "-maxdepth", "4", "-name", `*${id}*`], {
    encoding: "utf8",
  })
    .split("\n")
    .filter(Boolean);
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .filter((pid) => readOrEmpty(`/proc/${pid}/cmdline`).includes(id));
  return [...mounts, ...groups, ...processes.map((pid) => `process ${pid}`)];
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
