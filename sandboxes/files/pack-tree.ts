import {
  type BigIntStats,
  constants,
  type Dir,
  fstatSync,
  lstatSync,
  openSync,
  opendirSync,
  readSync,
  readlinkSync,
} from "node:fs";
import { type ByteStream, SandboxError } from "../../core/ports/sandbox.ts";
import type { TarHeader, TarKind } from "../../core/tar/tar-entry.ts";
import { type TarSource, writeTar } from "../../core/tar/write-tar.ts";
import { codeOf } from "../../host/error-code.ts";
import { type SandboxRoot, at, componentsOf, shown } from "./sandbox-root.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const CHUNK_BYTES = 256 * 1024;

/** One open file a level: a tree that is deeper was made to exhaust them. */
const MAX_DEPTH = 1000;

interface Packing {
  readonly root: SandboxRoot;
  readonly ownDevices: ReadonlySet<bigint>;
  /** Name in the archive of each file that has several names, by device and inode. */
  readonly firstNames: Map<string, Buffer>;
  /** The file being read: its reader may be left before its first byte is asked for. */
  openFd: number | null;
}

/** A tar stream of a path: the port's `get`. Throws when it is pulled, not when it is made. */
export async function* packTree(
  path: string,
  root: SandboxRoot,
): ByteStream & AsyncGenerator<Uint8Array, void, undefined> {
  const names = componentsOf(Buffer.from(path));
  const name = names.at(-1);
  if (name === undefined)
    throw new SandboxError("unsupported", "the whole file system is not packed");
  const rootFd = root.openRoot();
  let parentFd = rootFd;
  const packing: Packing = {
    root,
    ownDevices: root.ownDevices(rootFd),
    firstNames: new Map<string, Buffer>(),
    openFd: null,
  };
  try {
    parentFd = root.openFolder(rootFd, names.slice(0, -1), false);
    const stats = statOf(at(parentFd, name));
    if (stats === null) throw new SandboxError("not-found", `${JSON.stringify(path)} is not there`);
    yield* writeTar(entriesOf(packing, { parentFd, name, stats }));
  } finally {
    closeFile(packing);
    if (parentFd !== rootFd) root.release(parentFd);
    root.release(rootFd);
  }
}

interface Found {
  readonly parentFd: number;
  readonly name: Buffer;
  readonly stats: BigIntStats;
}

interface OpenFolder {
  readonly fd: number;
  readonly listing: Dir;
  readonly archiveName: Buffer;
}

/** Depth first, each folder before what is in it; a tree that changes meanwhile gives what it then is. */
async function* entriesOf(
  packing: Packing,
  first: Found,
): AsyncGenerator<TarSource, void, undefined> {
  const stack: OpenFolder[] = [];
  try {
    yield* visit(first, first.name);
    for (let folder = stack.at(-1); folder !== undefined; folder = stack.at(-1)) {
      packing.root.assertAlive();
      const entry = folder.listing.readSync();
      if (entry === null) {
        leave(stack, packing.root);
        continue;
      }
      // One character a byte: names are bytes.
      const name = Buffer.from(entry.name, "latin1");
      const stats = statOf(at(folder.fd, name));
      if (stats === null) continue;
      yield* visit(
        { parentFd: folder.fd, name, stats },
        Buffer.concat([folder.archiveName, Buffer.from("/"), name]),
      );
    }
  } finally {
    while (stack.length > 0) leave(stack, packing.root);
  }

  function* visit(found: Found, archiveName: Buffer): Generator<TarSource, void, undefined> {
    if (found.stats.isDirectory()) {
      yield { header: headerOf(found.stats, "directory", archiveName) };
      packing.root.assertAlive();
      // A mount of the host or the kernel is a folder without content here.
      if (packing.ownDevices.has(found.stats.dev))
        enter(found, archiveName, { stack, root: packing.root });
      return;
    }
    const source = sourceOf(packing, found, archiveName);
    if (source !== null) yield source;
  }
}

function enter(
  { parentFd, name }: Found,
  archiveName: Buffer,
  { stack, root }: { readonly stack: OpenFolder[]; readonly root: SandboxRoot },
): void {
  if (stack.length >= MAX_DEPTH)
    throw new SandboxError(
      "unsupported",
      `${shown(name)} lies deeper than ${String(MAX_DEPTH)} folders`,
    );
  const fd = openHere(at(parentFd, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (fd === null) return;
  root.track(fd);
  const listing = opendirSync(`/proc/self/fd/${String(fd)}`, { encoding: "latin1" });
  stack.push({ fd, listing, archiveName });
}

function leave(stack: OpenFolder[], root: SandboxRoot): void {
  const folder = stack.pop();
  if (folder === undefined) return;
  folder.listing.closeSync();
  root.release(folder.fd);
}

/** Null for what tar has no word for (sockets), and for what went away. */
function sourceOf(packing: Packing, found: Found, archiveName: Buffer): TarSource | null {
  const { stats } = found;
  if (stats.isSymbolicLink()) {
    const target = linkTarget(at(found.parentFd, found.name));
    return target === null
      ? null
      : { header: { ...headerOf(stats, "symlink", archiveName), linkName: target } };
  }
  if (stats.isFIFO()) return { header: headerOf(stats, "fifo", archiveName) };
  if (!stats.isFile()) return null;
  const key = `${String(stats.dev)}:${String(stats.ino)}`;
  const firstName = packing.firstNames.get(key);
  if (firstName !== undefined)
    return { header: { ...headerOf(stats, "hardlink", archiveName), linkName: firstName } };
  return fileSource(packing, found, { archiveName, key });
}

function fileSource(
  packing: Packing,
  found: Found,
  { archiveName, key }: { readonly archiveName: Buffer; readonly key: string },
): TarSource | null {
  const fd = openHere(at(found.parentFd, found.name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (fd === null) return null;
  packing.openFd = packing.root.track(fd);
  const stats = fstatSync(fd, { bigint: true });
  if (!stats.isFile()) {
    closeFile(packing);
    return null;
  }
  if (stats.nlink > 1n) packing.firstNames.set(key, archiveName);
  const header = { ...headerOf(stats, "file", archiveName), sizeBytes: Number(stats.size) };
  return { header, content: contentOf(packing, fd, header.sizeBytes) };
}

/** Exactly the announced bytes: a file that grew is cut, one that shrank is filled with zeros. */
function* contentOf(
  packing: Packing,
  fd: number,
  sizeBytes: number,
): Generator<Uint8Array, void, undefined> {
  try {
    for (let left = sizeBytes; left > 0;) {
      packing.root.assertAlive();
      const chunk = Buffer.alloc(Math.min(left, CHUNK_BYTES));
      const readBytes = readSync(fd, chunk, 0, chunk.byteLength, null);
      const taken = readBytes === 0 ? chunk.byteLength : readBytes;
      left -= taken;
      yield chunk.subarray(0, taken);
    }
  } finally {
    closeFile(packing);
  }
}

function closeFile(packing: Packing): void {
  if (packing.openFd !== null) packing.root.release(packing.openFd);
  packing.openFd = null;
}

function headerOf(stats: BigIntStats, kind: TarKind, name: Buffer): TarHeader {
  return {
    kind,
    name,
    mode: Number(stats.mode) & 0o7777,
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    sizeBytes: 0,
    mtimeSeconds: Number(stats.mtimeMs / 1000n),
    linkName: new Uint8Array(),
  };
}

function statOf(path: Buffer): BigIntStats | null {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null;
}

function linkTarget(path: Buffer): Buffer | null {
  try {
    return readlinkSync(path, { encoding: "buffer" });
  } catch {
    // It went away, or is no link any more.
    return null;
  }
}

/** Null when it went away, or became something else, since it was seen. */
function openHere(path: Buffer, flags: number): number | null {
  try {
    return openSync(path, flags);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP", "ENXIO"].includes(codeOf(error))) return null;
    throw error;
  }
}
