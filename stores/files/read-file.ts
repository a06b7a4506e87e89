import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { isMissing, storeError } from "./store-error.ts";
import { codeOf } from "../../host/error-code.ts";

export type FoundFile =
  | { readonly kind: "read"; readonly bytes: Uint8Array }
  | { readonly kind: "missing" }
  /** A link, a folder, a pipe, or larger than asked for: `reason` completes "result.json …". */
  | { readonly kind: "refused"; readonly reason: string };

// Without O_NONBLOCK a pipe that someone planted would hold the reader for ever.
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const CHUNK_BYTES = 65_536;

/**
 * Reads a plain file of at most `maxBytes`. No link is followed and nothing else is waited for. It
 * reads at once and not through the thread pool, which takes six times as long for thousands of small
 * files; callers with many let other work run in between.
 */
export function readFileBytes(path: string, maxBytes: number): FoundFile {
  let file: number;
  try {
    file = openSync(path, READ);
  } catch (error) {
    if (isMissing(error)) return { kind: "missing" };
    if (codeOf(error) === "ELOOP") return { kind: "refused", reason: "is a link" };
    throw storeError(error, "read", path);
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return { kind: "refused", reason: "is not a plain file" };
    if (stats.size > maxBytes) {
      return { kind: "refused", reason: `has ${stats.size} bytes, more than ${maxBytes}` };
    }
    return { kind: "read", bytes: readFileSync(file) };
  } catch (error) {
    throw storeError(error, "read", path);
  } finally {
    closeSync(file);
  }
}

/** The text of bytes that are UTF-8, without a byte order mark; null of any others. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // The one thing a fatal decoder throws for.
    return null;
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
