import { statfsSync } from "node:fs";
import type {
  ByteStream,
  Command,
  Completed,
  ForwardedPort,
  NetworkPolicy,
  ProcessMark,
  Sandbox,
  SandboxProcess,
  SandboxStats,
} from "../../core/ports/sandbox.ts";
import { SandboxError } from "../../core/ports/sandbox.ts";
import { BOX } from "./boot-tables.ts";
import { runCommand, spawnCommand } from "./command/run-command.ts";
import { type CommandHost, lost } from "./command/start-command.ts";
import { forwardPort } from "./forward-port.ts";
import { captureLayers } from "./image/capture-layers.ts";
import { packTree } from "../files/pack-tree.ts";
import { SandboxRoot } from "../files/sandbox-root.ts";
import { unpackTar } from "../files/unpack-tar.ts";
import { type ProcessSight, descendsFrom, markOf } from "../processes.ts";
import { removeSandbox, untilNoLoopDevice } from "./remove-sandbox.ts";
import { extendRecord, sandboxDir } from "./sandbox-record-file.ts";
import type { StateFolder } from "./state-folder.ts";

export interface LocalSandboxParts extends CommandHost {
  readonly state: StateFolder;
  readonly isolation: Sandbox["isolation"];
  readonly hasDiskLimit: boolean;
  /** Mounts whose files are the sandbox's own, as paths without the first `/`. */
  readonly ownMounts: readonly string[];
}

/** A sandbox of namespaces on this machine; made by `LocalSandboxes.create`. */
export class LocalSandbox implements Sandbox {
  readonly id: string;
  readonly isolation: Sandbox["isolation"];
  readonly #parts: LocalSandboxParts;
  readonly #root: SandboxRoot;
  readonly #ports = new Set<ForwardedPort>();
  #isDestroyed = false;
  #destroying: Promise<void> | null = null;

  constructor(parts: LocalSandboxParts) {
    this.id = parts.id;
    this.isolation = parts.isolation;
    this.#parts = parts;
    this.#root = new SandboxRoot({
      id: parts.id,
      path: `/proc/${String(parts.supervisor.pid)}/root/${BOX}`,
      mounts: parts.ownMounts,
      isAlive: () => this.#isAlive(),
    });
  }

  async exec(command: Command): Promise<Completed> {
    this.#assertAlive();
    return await runCommand(command, this.#parts);
  }

  async spawn(command: Command): Promise<SandboxProcess> {
    this.#assertAlive();
    return await spawnCommand(command, this.#parts);
  }

  async put(tar: ByteStream, dir: string): Promise<void> {
    this.#assertAlive();
    await unpackTar(tar, dir, this.#root);
  }

  get(path: string): ByteStream {
    return this.#get(path);
  }

  async *#get(path: string): AsyncGenerator<Uint8Array, void, undefined> {
    this.#assertAlive();
    yield* packTree(path, this.#root);
  }

  /** The network namespace has a loopback and nothing else, and stays so: `closed` holds always. */
  async network(policy: NetworkPolicy): Promise<void> {
    this.#assertAlive();
    if (policy !== "closed")
      throw new SandboxError("unsupported", "a local sandbox has no way to the open internet");
  }

  async forward(socketPath: string): Promise<ForwardedPort> {
    this.#assertAlive();
    const port = await forwardPort(this.#parts.supervisor, socketPath);
    this.#ports.add(port);
    if (!this.#isAlive()) {
      await port.close();
      throw lost(this.id);
    }
    return port;
  }

  async killUser(uid: number): Promise<number> {
    this.#assertAlive();
    return await this.#killWhere((sight) => sight.uids.includes(uid));
  }

  async mark(): Promise<ProcessMark> {
    this.#assertAlive();
    const inside = this.#parts.cgroup.tracked.processes().filter(({ depth }) => depth > 0);
    return { processes: inside.map(markOf) };
  }

  async killSince(mark: ProcessMark): Promise<number> {
    this.#assertAlive();
    const older = new Set(mark.processes);
    const keepers = new Set(mark.keepers);
    return await this.#killWhere(
      (sight) => !older.has(markOf(sight)) && !descendsFrom(sight, keepers),
    );
  }

  async stats(): Promise<SandboxStats> {
    return { ...this.#parts.cgroup.stats(), diskBytes: this.#diskBytes() };
  }

  async renew(leaseMs: number): Promise<void> {
    this.#assertAlive();
    if (!extendRecord(this.#parts.state, this.id, leaseMs)) throw lost(this.id);
  }

  async destroy(): Promise<void> {
    this.#destroying ??= this.#destroy().finally(() => {
      this.#destroying = null;
    });
    await this.#destroying;
  }

  async #destroy(): Promise<void> {
    const { state, supervisor, commands, cgroup, gates } = this.#parts;
    this.#isDestroyed = true;
    this.#root.close();
    await Promise.all([...this.#ports].map((port) => port.close()));
    await removeSandbox(state, this.id, async () => {
      // What no cgroup of the record has ended.
      await cgroup.tracked.end();
      const running = [...commands].map(({ ended }) => ended);
      await Promise.all([supervisor.untilEnded(), gates.close(), ...running]);
    });
    for (const command of commands) command.release();
  }

  /**
   * Ends the sandbox's processes for good and copies what they changed on its disk into `target`,
   * one folder a tree. After that only `destroy` can be called.
   */
  async capture(target: string): Promise<void> {
    this.#assertAlive();
    this.#root.close();
    await this.#parts.cgroup.tracked.end();
    await this.#parts.supervisor.untilEnded();
    const dir = sandboxDir(this.#parts.state, this.id);
    await untilNoLoopDevice(dir);
    await captureLayers(dir, target);
  }

  /** Of processes inside the sandbox, its first one excepted; their entrances on the host end with them. */
  async #killWhere(isWanted: (sight: ProcessSight) => boolean): Promise<number> {
    const { cgroup, supervisor } = this.#parts;
    return await cgroup.tracked.kill(
      (sight) => sight.depth > 0 && sight.pid !== supervisor.pid && isWanted(sight),
    );
  }

  #diskBytes(): number | null {
    const { hasDiskLimit, supervisor } = this.#parts;
    if (!hasDiskLimit || !this.#isAlive()) return null;
    const { blocks, bfree, bsize } = statfsSync(`/proc/${String(supervisor.pid)}/root/${BOX}`);
    return (blocks - bfree) * bsize;
  }

  #isAlive(): boolean {
    return !this.#isDestroyed && this.#parts.supervisor.isAlive();
  }

  #assertAlive(): void {
    if (!this.#isAlive()) throw lost(this.id);
  }
}
