import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync } from "node:fs";
import { SandboxError } from "../../core/ports/sandbox.ts";
import { codeOf } from "../../host/error-code.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

export interface SandboxRootOptions {
  readonly id: string;
  /** The sandbox's `/`, as the host reaches it. */
  readonly path: string;
  /** Mounts, below `/` and without its slash, whose files belong to the sandbox. */
  readonly mounts: readonly string[];
  readonly isAlive: () => boolean;
}

/**
 * The sandbox's file system from the host, in steps that never follow a link: each folder is opened
 * by its name inside an open folder (openat with O_NOFOLLOW, by way of /proc/self/fd). Whoever works
 * in the sandbox meanwhile can move things, but cannot lead a step out of it.
 *
 * Every step is synchronous, so that `close`, which lets the sandbox's mounts go, falls between two
 * steps and never into one.
 */
export class SandboxRoot {
  readonly #options: SandboxRootOptions;
  readonly #open = new Set<number>();

  constructor(options: SandboxRootOptions) {
    this.#options = options;
  }

  /** Throws `lost` when the sandbox is gone. Called before each step that follows a wait. */
  assertAlive(): void {
    if (!this.#options.isAlive())
      throw new SandboxError("lost", `sandbox ${this.#options.id} is gone`);
  }

  /** An open folder for `/`. */
  openRoot(): number {
    this.assertAlive();
    return this.track(openSync(this.#options.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  }

  /** File system ids of the folders that belong to the sandbox, and not to the host or the kernel. */
  ownDevices(rootFd: number): Set<bigint> {
    const devices = new Set([fstatSync(rootFd, { bigint: true }).dev]);
    for (const mount of this.#options.mounts) {
      const folder = this.#openIfThere(rootFd, mount);
      if (folder === null) continue;
      devices.add(fstatSync(folder, { bigint: true }).dev);
      this.release(folder);
    }
    return devices;
  }

  /**
   * Opens a folder below an open one. A name that is a link is `unsafe-path`; a missing one is made
   * (root, 0755) when `make` says so, else `not-found`, as is one below a file.
   */
  openFolder(fromFd: number, names: readonly Buffer[], make: boolean): number {
    let current = fromFd;
    for (const name of names) {
      const next = this.#openName(current, name, make);
      if (current !== fromFd) this.release(current);
      current = next;
    }
    return current;
  }

  track(fd: number): number {
    this.#open.add(fd);
    return fd;
  }

  release(fd: number): void {
    if (this.#open.delete(fd)) closeSync(fd);
  }

  /** Lets go of every open file: an open one keeps the sandbox's mounts, and its disk, in being. */
  close(): void {
    for (const fd of this.#open) this.release(fd);
  }

  #openName(folderFd: number, name: Buffer, make: boolean): number {
    const path = at(folderFd, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isSymbolicLink() === true)
      throw new SandboxError("unsafe-path", `${shown(name)} is a link, and links are not followed`);
    if (stats === undefined && make) mkdirSync(path, { mode: 0o755 });
    else if (stats?.isDirectory() !== true)
      throw new SandboxError(
        make ? "unsafe-path" : "not-found",
        stats === undefined ? `${shown(name)} is not there` : `${shown(name)} is no folder`,
      );
    try {
      return this.track(openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    } catch (error) {
      // Between the look and the step a process in the sandbox put something else there.
      if (["ENOENT", "ENOTDIR", "ELOOP"].includes(codeOf(error)))
        throw new SandboxError("unsafe-path", `${shown(name)} changed under the call`, {
          cause: error,
        });
      throw error;
    }
  }

  #openIfThere(rootFd: number, path: string): number | null {
    try {
      return this.openFolder(
        rootFd,
        path.split("/").map((name) => Buffer.from(name)),
        false,
      );
    } catch {
      // An image may have removed it: then nothing is mounted there.
      return null;
    }
  }
}

/** The path of a name inside an open folder; the name is one component, as bytes. */
export function at(folderFd: number, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${String(folderFd)}/`), name]);
}

/** A name as a message shows it. */
export function shown(name: Uint8Array): string {
  return JSON.stringify(Buffer.from(name).toString("utf8"));
}

/**
 * The components of a path as bytes, `.` and doubled slashes dropped. Throws `unsafe-path` for `..`
 * and NUL, which no path that we are given has a need for.
 */
export function componentsOf(path: Uint8Array): Buffer[] {
  const names: Buffer[] = [];
  let start = 0;
  const bytes = Buffer.from(path);
  while (start <= bytes.byteLength) {
    const slash = bytes.indexOf(0x2f, start);
    const end = slash === -1 ? bytes.byteLength : slash;
    const name = bytes.subarray(start, end);
    if (name.equals(DOT_DOT) || name.includes(0))
      throw new SandboxError("unsafe-path", `${shown(path)} leaves its folder`);
    if (name.byteLength > 0 && !name.equals(DOT)) names.push(name);
    start = end + 1;
  }
  return names;
}

const DOT = Buffer.from(".");
const DOT_DOT = Buffer.from("..");
