/** Ceilings for what is taken out of a folder that an agent filled (spec 11.6). */
export interface CollectLimits {
  readonly maxFiles: number;
  readonly maxBytes: number;
}

/** A link, pipe or empty folder: kept as a line of the manifest and never made on this machine. */
export interface ListedEntry {
  readonly path: string;
  readonly kind: "symlink" | "hardlink" | "fifo";
  readonly target: string;
}

/** What was taken from one folder of a sandbox and what was not. Nothing is left out in silence. */
export interface CollectedFolder {
  readonly source: string;
  readonly stored_files: number;
  readonly stored_bytes: number;
  readonly dropped_files: number;
  readonly dropped_bytes: number;
  /** Why the rest of the folder was not even counted; null when it was. */
  readonly incomplete: string | null;
  readonly listed: readonly ListedEntry[];
  readonly unlisted: number;
  /** Files whose name could not be kept as it was: where they lie, and the name. */
  readonly renamed: readonly { readonly path: string; readonly stored: string }[];
}

/** Lines that a manifest holds of each kind; the rest is counted. */
export const MAX_LISTED = 10_000;
