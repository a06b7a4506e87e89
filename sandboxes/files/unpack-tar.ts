import {
  constants,
  fchmodSync,
  fchownSync,
  futimesSync,
  lchownSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { type ByteStream, SandboxError } from "../../core/ports/sandbox.ts";
import { type TarItem, readTar } from "../../core/tar/read-tar.ts";
import { TarError, type TarHeader } from "../../core/tar/tar-entry.ts";
import { codeOf } from "../../host/error-code.ts";
import { runTool } from "../run-tool.ts";
import { type SandboxRoot, at, componentsOf, shown } from "./sandbox-root.ts";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

interface Unpacking {
  readonly root: SandboxRoot;
  readonly baseFd: number;
  /** Times of folders, set last: every file that is made in one changes them. */
  readonly folderTimes: { readonly names: readonly Buffer[]; readonly mtimeSeconds: number }[];
}

/** Unpacks an archive below `dir`: the port's `put`. */
export async function unpackTar(tar: ByteStream, dir: string, root: SandboxRoot): Promise<void> {
  const rootFd = root.openRoot();
  let baseFd = rootFd;
  try {
    baseFd = root.openFolder(rootFd, componentsOf(Buffer.from(dir)), true);
    const unpacking: Unpacking = { root, baseFd, folderTimes: [] };
    for await (const item of readTar(tar)) {
      root.assertAlive();
      await unpackItem(item, unpacking);
    }
    root.assertAlive();
    setFolderTimes(unpacking);
  } catch (error) {
    throw translated(error);
  } finally {
    root.release(baseFd);
    root.release(rootFd);
  }
}

async function unpackItem(item: TarItem, unpacking: Unpacking): Promise<void> {
  const { root, baseFd } = unpacking;
  const { header } = item;
  const names = namesOf(header);
  const name = names.at(-1);
  // `./` is the folder itself, whose owner and mode are not the archive's to set.
  if (name === undefined) return;
  const parentFd = root.openFolder(baseFd, names.slice(0, -1), true);
  try {
    const path = at(parentFd, name);
    if (header.kind === "directory") return makeFolder(header, { path, names }, unpacking);
    clearPlace(path, name);
    if (header.kind === "file") return await writeFile(item, path, root);
    if (header.kind === "symlink") symlinkSync(Buffer.from(header.linkName), path);
    else if (header.kind === "hardlink") return makeHardLink(header, path, unpacking);
    else await makePipe(parentFd, name, header);
    lchownSync(path, header.uid, header.gid);
    lutimesSync(path, header.mtimeSeconds, header.mtimeSeconds);
  } finally {
    if (parentFd !== baseFd) root.release(parentFd);
  }
}

function namesOf(header: TarHeader): Buffer[] {
  if (header.name.byteLength === 0 || header.name[0] === 0x2f)
    throw new SandboxError("unsafe-path", `entry ${shown(header.name)} leaves its folder`);
  return componentsOf(header.name);
}

/** A file's or link's place is made free; a folder in it is kept, and the archive refused. */
function clearPlace(path: Buffer, name: Buffer): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true)
    throw new SandboxError(
      "unsafe-path",
      `${shown(name)} is a folder, and the archive has a file there`,
    );
  if (stats !== undefined) unlinkSync(path);
}

async function writeFile(item: TarItem, path: Buffer, root: SandboxRoot): Promise<void> {
  const { header, content } = item;
  const fd = root.track(openSync(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600));
  try {
    for await (const chunk of content) {
      root.assertAlive();
      for (let done = 0; done < chunk.byteLength;) done += writeSync(fd, chunk, done);
    }
    root.assertAlive();
    setAttributes(fd, header);
  } finally {
    root.release(fd);
  }
}

/** The owner first: a change of owner takes set-id bits away (chown(2)). */
function setAttributes(fd: number, header: TarHeader): void {
  fchownSync(fd, header.uid, header.gid);
  fchmodSync(fd, header.mode);
  futimesSync(fd, header.mtimeSeconds, header.mtimeSeconds);
}

interface Place {
  readonly path: Buffer;
  readonly names: readonly Buffer[];
}

function makeFolder(header: TarHeader, { path, names }: Place, unpacking: Unpacking): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink() === true)
    throw new SandboxError(
      "unsafe-path",
      `${shown(names.at(-1) ?? path)} is a link where the archive has a folder`,
    );
  if (stats !== undefined && !stats.isDirectory()) unlinkSync(path);
  if (stats?.isDirectory() !== true) mkdirSync(path, { mode: 0o700 });
  const fd = unpacking.root.track(openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  try {
    setAttributes(fd, header);
  } finally {
    unpacking.root.release(fd);
  }
  unpacking.folderTimes.push({ names, mtimeSeconds: header.mtimeSeconds });
}

function makeHardLink(header: TarHeader, path: Buffer, { root, baseFd }: Unpacking): void {
  const target = componentsOf(header.linkName);
  const name = target.at(-1);
  if (name === undefined || header.linkName[0] === 0x2f)
    throw new SandboxError(
      "unsafe-path",
      `link target ${shown(header.linkName)} leaves its folder`,
    );
  const parentFd = root.openFolder(baseFd, target.slice(0, -1), false);
  try {
    const from = at(parentFd, name);
    if (lstatSync(from, { throwIfNoEntry: false })?.isFile() !== true)
      throw new SandboxError(
        "unsafe-path",
        `link target ${shown(header.linkName)} is no file of the archive`,
      );
    linkSync(from, path);
  } finally {
    if (parentFd !== baseFd) root.release(parentFd);
  }
}

/** Node cannot make a pipe with a name; mkfifo(1) reaches the folder through our own open one. */
async function makePipe(parentFd: number, name: Buffer, header: TarHeader): Promise<void> {
  const text = name.toString("utf8");
  if (!Buffer.from(text).equals(name))
    throw new SandboxError("unsupported", `pipe ${shown(name)} has a name that is no UTF-8`);
  const path = `/proc/${String(process.pid)}/fd/${String(parentFd)}/${text}`;
  const mode = (header.mode & 0o777).toString(8);
  const made = await runTool(["mkfifo", "-m", mode, "--", path]);
  if (made.exitCode !== 0) throw new SandboxError("unsupported", `mkfifo: ${made.stderr.trim()}`);
}

function setFolderTimes({ root, baseFd, folderTimes }: Unpacking): void {
  for (const { names, mtimeSeconds } of folderTimes) {
    const fd = root.openFolder(baseFd, names, false);
    futimesSync(fd, mtimeSeconds, mtimeSeconds);
    root.release(fd);
  }
}

function translated(error: unknown): unknown {
  if (error instanceof TarError)
    return new SandboxError("unsupported", `the archive cannot be unpacked: ${error.message}`, {
      cause: error,
    });
  if (["ENOSPC", "EDQUOT"].includes(codeOf(error)))
    return new SandboxError("disk-full", "the sandbox's disk is full", { cause: error });
  return error;
}
