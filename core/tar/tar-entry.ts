/** What one entry of a tar archive is; anything else an archive can hold is refused by the reader. */
export type TarKind = "file" | "directory" | "symlink" | "hardlink" | "fifo";

/**
 * One entry's header. Names are bytes, because file names are (POSIX 3.170): only NUL and `/` are
 * special, and an agent can make any other.
 */
export interface TarHeader {
  readonly kind: TarKind;
  readonly name: Uint8Array;
  /** Permission bits, set-id and sticky bits included: 0 to 0o7777. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Bytes of content; 0 for everything but files. */
  readonly sizeBytes: number;
  readonly mtimeSeconds: number;
  /** Target of a link, as bytes; empty for everything else. */
  readonly linkName: Uint8Array;
}

/** An archive that is not one, is cut short, or holds what this reader refuses. */
export class TarError extends Error {
  override readonly name = "TarError";
}

export const TAR_BLOCK_BYTES = 512;
