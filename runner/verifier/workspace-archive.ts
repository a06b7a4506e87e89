import * as z from "zod";

/** Where the agent's final work lies in an attempt's folder (spec 11.6). */
export const ARCHIVE_PATH = "evidence/workspace.tar.gz";
export const MANIFEST_PATH = "evidence/manifest.json";

/** Ceilings for a frozen workspace (spec 11.6). Beyond them nothing is frozen, and that is said. */
export const FROZEN_LIMITS = { maxEntries: 200_000, maxBytes: 20 * 1024 ** 3 } as const;

/** The folders besides the workspace that verifiers read, by their name in the archive. */
export const FROZEN_FOLDERS: readonly (readonly [string, string])[] = [
  ["output", "/output"],
  ["outputs", "/outputs"],
  ["artifacts", "/logs/artifacts"],
];

/** The workspace's own name in the archive. */
export const WORKSPACE_ROOT = "workspace";

export const FrozenEntry = z.object({
  /** Path in the archive, bytes that are no UTF-8 escaped as `=` and two hex digits. */
  path: z.string(),
  type: z.enum(["file", "directory", "symlink", "hardlink", "fifo"]),
  /** Permission bits in octal. */
  mode: z.string(),
  uid: z.int().min(0),
  gid: z.int().min(0),
  size: z.int().min(0).optional(),
  sha256: z.string().optional(),
  target: z.string().optional(),
});
export type FrozenEntry = z.infer<typeof FrozenEntry>;

export const FrozenManifest = z.object({
  schema_version: z.literal(1),
  /** The workspace's folder in the sandbox that it was taken from. */
  workdir: z.string(),
  entries: z.array(FrozenEntry),
});
export type FrozenManifest = z.infer<typeof FrozenManifest>;
