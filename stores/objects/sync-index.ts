import { lstatSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { readFileBytes } from "../files/read-file.ts";
import { writeAtomic } from "../files/write-atomic.ts";

/** Beside a job's folders; no reader of the tree looks at names that begin with a dot. */
const INDEX_FILE = ".bench-sync.json";
const MAX_INDEX_BYTES = 1024 ** 3;

const SyncIndex = z.object({
  schema_version: z.literal(1),
  /** The run that was last synced here; a job that was resumed has several. */
  run: z.string(),
  /** The manifest that the tree was last made equal to; null while the run goes on. */
  manifest: z.string().nullable(),
  /** Attempt, or empty for the job's own files: path to what the file looked like when it was written. */
  folders: z.record(
    z.string(),
    z.object({
      /** sha256 of the seal; empty for the job's own files. */
      seal: z.string(),
      files: z.record(z.string(), z.object({ mark: z.string(), sha256: z.string() })),
    }),
  ),
});
export type SyncIndex = z.infer<typeof SyncIndex>;
export type SyncedFolder = SyncIndex["folders"][string];

/**
 * What was synced here before; an index that is lost or damaged only costs hashing everything again. Of
 * another run's it keeps the files: its manifest says nothing of this one.
 */
export function readSyncIndex(jobDir: string, run: string): SyncIndex {
  const found = readFileBytes(join(jobDir, INDEX_FILE), MAX_INDEX_BYTES);
  const none: SyncIndex = { schema_version: 1, run, manifest: null, folders: {} };
  if (found.kind !== "read") return none;
  try {
    const index = SyncIndex.parse(JSON.parse(new TextDecoder().decode(found.bytes)));
    return index.run === run ? index : { ...index, run, manifest: null };
  } catch {
    return none;
  }
}

export async function writeSyncIndex(jobDir: string, index: SyncIndex): Promise<void> {
  await writeAtomic(join(jobDir, INDEX_FILE), JSON.stringify(index), { syncFolder: false });
}

/** Whether every file still looks as it did when it was written: size, time in ns and inode. */
export function looksUntouched(folderDir: string, { files }: SyncedFolder): boolean {
  return Object.entries(files).every(([path, { mark }]) => markOf(join(folderDir, path)) === mark);
}

/** How a file looks without reading it; null when there is no plain file. */
export function markOf(path: string): string | null {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats?.isFile() !== true) return null;
  return `${stats.size}:${stats.mtimeNs}:${stats.ino}`;
}
