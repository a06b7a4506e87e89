import * as z from "zod";

/** One file as it was when its attempt ended. */
export const SealedFile = z.object({
  /** Relative to the attempt's folder, `/`-separated, as it is on disk. */
  path: z.string(),
  size: z.int().min(0),
  /** Lower-case hex. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/u),
});
export type SealedFile = z.infer<typeof SealedFile>;

/**
 * seal.json, the manifest that ends an attempt and is its last write (design 9). It lists every file
 * but itself, sorted by path. A seal says that the files are consistent, never that they are authentic.
 */
export const Seal = z.object({
  schema_version: z.literal(1),
  files: z.array(SealedFile),
  /** What is no regular file: recorded, never followed or hashed (failures C-55). */
  other: z.array(z.object({ path: z.string(), type: z.enum(["link", "special"]) })).default([]),
  /** True when a later command sealed it because the first was killed between result.json and here. */
  recovered: z.boolean().default(false),
});
export type Seal = z.infer<typeof Seal>;

/** What a check of a seal found. Extra files are named, since regrades and notes may add some. */
export const SealCheck = z.object({
  state: z.enum(["intact", "absent", "broken"]),
  /** One line per file that is missing, differs or cannot be read; or why the seal is unreadable. */
  problems: z.array(z.string()),
  extra: z.array(z.string()),
});
export type SealCheck = z.infer<typeof SealCheck>;
