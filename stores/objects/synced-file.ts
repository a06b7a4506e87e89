import { createHash } from "node:crypto";
import { link, lstat } from "node:fs/promises";
import { join } from "node:path";
import { BenchError } from "../../core/errors.ts";
import type { SealedFile } from "../../core/model/seal.ts";
import type { ByteStream } from "../../core/ports/sandbox.ts";
import { codeOf } from "../../host/error-code.ts";
import { hashing } from "../../host/hashing.ts";
import { makeFolders } from "../files/make-folders.ts";
import { streamFile } from "../files/read-file.ts";
import { safeSegments, unescapeName } from "../files/safe-path.ts";
import { isMissing, storeError } from "../files/store-error.ts";
import { writeAtomic } from "../files/write-atomic.ts";

/**
 * The folders and the name of a file as a seal lists it, which is as it is on disk. The seal came from
 * elsewhere: a path that our own stores would not have made is refused.
 */
export function storedSegments(path: string): string[] {
  const segments = safeSegments(path.split("/").map(unescapeName).join("/"));
  if (segments.join("/") === path) return segments;
  throw new BenchError(
    "config",
    `path ${JSON.stringify(path.slice(0, 300))} is not as a store writes it`,
    {
      next: "`bench sync` another run: this one was not written by a runner of ours",
    },
  );
}

/**
 * sha256 of a plain file there, or null when there is none. Links are not followed. Throws `BenchError`
 * (`unavailable`) where the disk does not say.
 */
export async function hashOfFile(path: string): Promise<string | null> {
  const stats = await lstat(path).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw storeError(error, "look at", path);
  });
  if (stats?.isFile() !== true) return null;
  const hash = createHash("sha256");
  for await (const chunk of streamFile(path)) hash.update(chunk);
  return hash.digest("hex");
}

/** A file's bytes on their way: they must be those that were promised, or nothing appears. */
export async function writeVerified(
  folderDir: string,
  file: SealedFile,
  bytes: Uint8Array | ByteStream,
): Promise<void> {
  const segments = storedSegments(file.path);
  const folder = await makeFolders(folderDir, segments.slice(0, -1));
  const hash = createHash("sha256");
  await writeAtomic(
    join(folder, segments.at(-1) ?? ""),
    hashing(bytes instanceof Uint8Array ? [bytes] : bytes, hash),
    {
      syncFolder: false,
      beforeRename: () => {
        if (hash.digest("hex") === file.sha256) return;
        throw new BenchError("unavailable", `${file.path} did not arrive as it was sealed`, {
          next: "run the same command again; when it stays so, the run's data is damaged",
        });
      },
    },
  );
}

/** Keeps a file that someone changed here beside the one that is about to take its place (attack 36). */
export async function keepLocal(path: string, sha256: string): Promise<string> {
  const kept = `${path}.local-${sha256.slice(0, 8)}`;
  await link(path, kept).catch((error: unknown) => {
    if (codeOf(error) !== "EEXIST") throw error;
  });
  return kept;
}
