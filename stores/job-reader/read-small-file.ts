import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { codeOf, isMissing, storeError } from "../files/store-error.ts";

export type SmallFile =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "missing" }
  | { readonly kind: "refused"; readonly reason: string };

// Without O_NONBLOCK a pipe that someone planted would hold the reader for ever.
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * A text file of at most `maxBytes`: no link is followed, and nothing else is waited for. It reads at
 * once and not through the thread pool, which for tens of thousands of small files takes four times
 * as long; callers with many files let other work run in between.
 */
export function readSmallFile(path: string, maxBytes: number): SmallFile {
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
    return decode(readFileSync(file));
  } catch (error) {
    throw storeError(error, "read", path);
  } finally {
    closeSync(file);
  }
}

function decode(bytes: Uint8Array): SmallFile {
  try {
    return { kind: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { kind: "refused", reason: "is not UTF-8" };
  }
}

/** The JSON value of a small file; undefined when there is none that can be read. */
export function readSmallJson(path: string, maxBytes: number): unknown {
  const found = readSmallFile(path, maxBytes);
  if (found.kind !== "text") return undefined;
  try {
    return JSON.parse(found.text);
  } catch {
    // The callers read side files for details that may be missing as well.
    return undefined;
  }
}
