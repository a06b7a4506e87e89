import type { ByteStream } from "../core/ports/sandbox.ts";
import { inlineEntry } from "../core/tar/inline-entry.ts";
import { writeTar } from "../core/tar/write-tar.ts";

/** A tar stream of one file that the runner makes itself, owned by root. */
export function packFile(name: string, content: Uint8Array | string, mode: number): ByteStream {
  return writeTar([inlineEntry(name, content, mode)]);
}
