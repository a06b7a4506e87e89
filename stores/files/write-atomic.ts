import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ByteStream } from "../../core/ports/sandbox.ts";
import { isMissing, storeError } from "./store-error.ts";
import { temporaryName } from "./temporary-name.ts";

/** What was written: the caller need not read it again to seal it. */
export interface WrittenFile {
  readonly sizeBytes: number;
  readonly sha256: string;
}

export interface WriteOptions {
  /** Makes the new name itself survive a loss of power; a seal does it once for a whole attempt. */
  readonly syncFolder: boolean;
  /** Called when all bytes are safe, before the file appears under its name; may throw to stop it. */
  readonly beforeRename?: () => void;
}

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Puts the bytes under the path, whole or not at all: a file beside it, synced, then renamed over it.
 * A link that stands there is replaced, never followed. On failure nothing is left.
 */
export async function writeAtomic(
  path: string,
  bytes: Uint8Array | string | ByteStream,
  options: WriteOptions,
): Promise<WrittenFile> {
  try {
    return await writeAndRename(path, bytes, options);
  } catch (error) {
    // A neighbour in another container may have taken the file beside it for one left behind.
    if (!isMissing(error) || isStream(bytes)) throw storeError(error, "write", path);
  }
  try {
    return await writeAndRename(path, bytes, options);
  } catch (error) {
    throw storeError(error, "write", path);
  }
}

async function writeAndRename(
  path: string,
  bytes: Uint8Array | string | ByteStream,
  options: WriteOptions,
): Promise<WrittenFile> {
  const temporary = join(dirname(path), temporaryName());
  try {
    const written = await writeNew(temporary, bytes);
    options.beforeRename?.();
    await rename(temporary, path);
    if (options.syncFolder) await syncFolder(dirname(path));
    return written;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeNew(
  path: string,
  bytes: Uint8Array | string | ByteStream,
): Promise<WrittenFile> {
  const handle = await open(path, CREATE, 0o644);
  try {
    const written = isStream(bytes)
      ? await writeChunks(handle, bytes)
      : await writeChunk(handle, bytes);
    await handle.sync();
    return written;
  } finally {
    await handle.close();
  }
}

async function writeChunk(handle: FileHandle, bytes: Uint8Array | string): Promise<WrittenFile> {
  const chunk = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
  await handle.writeFile(chunk);
  return { sizeBytes: chunk.length, sha256: createHash("sha256").update(chunk).digest("hex") };
}

async function writeChunks(handle: FileHandle, chunks: ByteStream): Promise<WrittenFile> {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  for await (const chunk of chunks) {
    await handle.writeFile(chunk);
    hash.update(chunk);
    sizeBytes += chunk.length;
  }
  return { sizeBytes, sha256: hash.digest("hex") };
}

function isStream(bytes: Uint8Array | string | ByteStream): bytes is ByteStream {
  return typeof bytes === "object" && Symbol.asyncIterator in bytes;
}
