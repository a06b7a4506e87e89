import type { ByteStream } from "./sandbox.ts";

/** What is written: bytes whose size and hash are known before the first is sent, readable again. */
export interface ObjectBody {
  readonly sizeBytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly open: () => ByteStream;
}

export interface FoundObject {
  readonly key: string;
  readonly sizeBytes: number;
  /** The store's own word for this version of the object; opaque. */
  readonly version: string;
}

export interface OpenObject extends FoundObject {
  readonly bytes: ByteStream;
}

/**
 * Where a cloud run's files lie: objects under keys with `/`, each whole or absent. Keys are our own
 * (escaped by whoever makes them), never a task's or an agent's. When the service fails every call
 * throws `BenchError` (`unavailable`).
 */
export interface ObjectStore {
  /**
   * Writes an object once. `created`: it was not there; `same`: these very bytes were there already, as
   * after an answer that was lost; `differs`: other bytes are there, and stay.
   */
  create(key: string, body: ObjectBody): Promise<"created" | "same" | "differs">;
  /**
   * Replaces an object that only one writer at a time may change. `expected` is the version that was
   * read, null for none. Resolves to the new version, or to null when another one was there.
   */
  replace(key: string, bytes: Uint8Array, expected: string | null): Promise<string | null>;
  /** Null when there is no such object, or, with `unless`, when it is still that version. */
  open(key: string, unless?: string): Promise<OpenObject | null>;
  /** Objects whose keys begin with the prefix, in byte order of the keys. */
  list(prefix: string): AsyncIterable<FoundObject>;
  /** Removes an object; one that is not there is no error. */
  remove(key: string): Promise<void>;
}
