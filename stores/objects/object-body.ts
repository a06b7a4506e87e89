import type { ObjectBody, ObjectStore, OpenObject } from "../../core/ports/object-store.ts";
import { sha256Hex } from "../../host/sha256-hex.ts";
import { streamFile } from "../files/read-file.ts";

/** Bytes in memory as a body. */
export function bodyOfBytes(content: Uint8Array | string): ObjectBody {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return {
    sizeBytes: bytes.length,
    sha256: sha256Hex(bytes),
    open: () => once(bytes),
  };
}

/** A file whose size and hash are known already. It is read when it is sent. */
export function bodyOfFile(
  path: string,
  known: Pick<ObjectBody, "sizeBytes" | "sha256">,
): ObjectBody {
  return { ...known, open: () => streamFile(path) };
}

/** An object's bytes, or null when it is not there. For small ones. */
export async function readObject(store: ObjectStore, key: string): Promise<Uint8Array | null> {
  const found = await store.open(key);
  return found === null ? null : await bytesOf(found);
}

export async function bytesOf({ bytes }: Pick<OpenObject, "bytes">): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
