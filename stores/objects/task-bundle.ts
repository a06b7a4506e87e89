import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { BenchError } from "../../core/errors.ts";
import { compareNames } from "../../core/plan/compare-names.ts";
import type { ObjectBody } from "../../core/ports/object-store.ts";
import type { ByteStream } from "../../core/ports/sandbox.ts";
import type { TarHeader } from "../../core/tar/tar-entry.ts";
import { type TarSource, writeTar } from "../../core/tar/write-tar.ts";

/**
 * A task's folder as one archive whose bytes are a function of its files' names, modes, contents and links
 * alone, so that the archive's hash names it. Files are read twice: to hash, and to send; the store refuses
 * what changed in between. Throws `BenchError` (`config`) for what is no file, folder or link.
 */
export async function packTask(taskDir: string): Promise<ObjectBody> {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  for await (const chunk of archiveOf(taskDir)) {
    hash.update(chunk);
    sizeBytes += chunk.byteLength;
  }
  return { sizeBytes, sha256: hash.digest("hex"), open: () => archiveOf(taskDir) };
}

function archiveOf(taskDir: string): ByteStream {
  return writeTar(entriesOf(taskDir, ""));
}

async function* entriesOf(
  root: string,
  folder: string,
): AsyncGenerator<TarSource, void, undefined> {
  const names = await readdir(join(root, folder));
  for (const name of names.toSorted(compareNames)) {
    const path = `${folder}${name}`;
    const stats = await lstat(join(root, path));
    const header = headerOf(path, (stats.mode & 0o111) !== 0 ? 0o755 : 0o644);
    if (stats.isDirectory()) {
      yield { header: { ...header, kind: "directory", mode: 0o755 } };
      yield* entriesOf(root, `${path}/`);
    } else if (stats.isSymbolicLink()) {
      const linkName = Buffer.from(await readlink(join(root, path)));
      yield { header: { ...header, kind: "symlink", mode: 0o777, linkName } };
    } else if (stats.isFile()) {
      yield* fileEntry(join(root, path), header);
    } else {
      throw new BenchError("config", `${join(root, path)} is neither a file nor a folder`, {
        next: "remove it from the task",
      });
    }
  }
}

async function* fileEntry(
  path: string,
  header: TarHeader,
): AsyncGenerator<TarSource, void, undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = await file.stat();
    const content = file.createReadStream({ autoClose: false });
    yield { header: { ...header, sizeBytes: size }, content };
  } finally {
    await file.close();
  }
}

function headerOf(path: string, mode: number): TarHeader {
  return {
    kind: "file",
    name: Buffer.from(path),
    mode,
    uid: 0,
    gid: 0,
    sizeBytes: 0,
    mtimeSeconds: 0,
    linkName: new Uint8Array(),
  };
}
