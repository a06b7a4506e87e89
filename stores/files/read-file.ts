import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { codeOf, isMissing, storeError } from "./store-error.ts";

export type FoundFile =
  | { readonly kind: "read"; readonly bytes: Uint8Array }
  | { readonly kind: "missing" }
  /** A link, a folder, a pipe, or larger than asked for: `reason` completes "result.json …". */
  | { readonly kind: "refused"; readonly reason: string };

// Without O_NONBLOCK a pipe that someone planted would hold the reader for ever.
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const CHUNK_BYTES = 65_536;

/** Reads a plain file of at most `maxBytes`. No link is followed and nothing else is waited for. */
export async function readFileBytes(path: string, maxBytes: number): Promise<FoundFile> {
  let handle: FileHandle;
  try {
    handle = await open(path, READ);
  } catch (error) {
    if (isMissing(error)) return { kind: "missing" };
    if (codeOf(error) === "ELOOP") return { kind: "refused", reason: "is a link" };
    throw storeError(error, "read", path);
  }
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return { kind: "refused", reason: "is not a plain file" };
    if (stats.size > maxBytes) {
      return { kind: "refused", reason: `has ${stats.size} bytes, more than ${maxBytes}` };
    }
    return { kind: "read", bytes: await handle.readFile() };
  } catch (error) {
    throw storeError(error, "read", path);
  } finally {
    await handle.close();
  }
}

/** The bytes of a plain file as they are pulled. Throws `BenchError` when there is none. */
export async function* streamFile(path: string): AsyncGenerator<Uint8Array> {
  let handle: FileHandle | null = null;
  try {
    handle = await open(path, READ);
    if (!(await handle.stat()).isFile()) throw new Error("not a plain file");
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } catch (error) {
    throw storeError(error, "read", path);
  } finally {
    await handle?.close();
  }
}
