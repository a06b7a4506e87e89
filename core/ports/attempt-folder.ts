import type { ByteStream } from "./sandbox.ts";

/** A file that grows while the attempt runs. */
export interface AppendFile {
  append(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/**
 * One attempt's folder, write-only for the runner. Paths are relative, `/`-separated; one that
 * leaves the folder is refused. Every write is whole or absent after a crash.
 */
export interface AttemptFolder {
  readonly rolloutName: string;
  /** Temp file, fsync, rename. */
  write(path: string, bytes: Uint8Array | string): Promise<void>;
  writeStream(path: string, bytes: ByteStream): Promise<void>;
  append(path: string): Promise<AppendFile>;
  mkdir(path: string): Promise<void>;
  /** Reads a file of an earlier attempt of the same job, for verify-only attempts. */
  readFrom(rolloutName: string, path: string): ByteStream;
  /** Writes result.json, then seal.json (path, size, sha256 of every file) as the last write. */
  seal(result: Uint8Array | string): Promise<void>;
}
