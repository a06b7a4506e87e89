import type { Hash } from "node:crypto";

/** These bytes as they pass; the hash has seen each when its reader gets it. */
export async function* hashing(
  bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  hash: Hash,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    hash.update(chunk);
    yield chunk;
  }
}
