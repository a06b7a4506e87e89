import { join } from "node:path";
import { BenchError } from "../../core/errors.ts";
import type { SealedFile } from "../../core/model/seal.ts";
import type { ObjectBody, ObjectStore } from "../../core/ports/object-store.ts";
import type { TarSource } from "../../core/tar/write-tar.ts";
import { inlineEntry } from "../../core/tar/inline-entry.ts";
import { writeTar } from "../../core/tar/write-tar.ts";
import { readFileBytes } from "../files/read-file.ts";
import { foldersOf, readSeal, RESULT_FILE, SEAL_FILE } from "../files/seal-folder.ts";
import { bodyOfBytes, bodyOfFile, bytesOf } from "./object-body.ts";
import { type AttemptLayout, LARGE_FILE_BYTES } from "./run-layout.ts";

/**
 * Puts a sealed attempt's folder into the store: large files, then one archive of the small ones, then
 * result.json, and the seal last, so that whoever sees the seal sees the attempt whole. Doing it again
 * changes nothing. Throws `BenchError`: `bug` for a folder without a seal, `unavailable` when the store
 * fails or holds other bytes under one of the attempt's keys: nothing is ever overwritten.
 */
export async function uploadAttempt(
  store: ObjectStore,
  attemptDir: string,
  layout: AttemptLayout,
): Promise<void> {
  const found = readSeal(attemptDir);
  if (found.kind !== "sealed") {
    throw new BenchError("bug", `attempt ${attemptDir} has no seal`, {
      next: "report this with the command that you ran",
    });
  }
  const files = found.seal.files.filter(({ path }) => path !== RESULT_FILE);
  for (const file of files.filter(isLarge)) {
    const known = { sizeBytes: file.size, sha256: file.sha256 };
    await putOnce(store, layout.large(file.sha256), bodyOfFile(join(attemptDir, file.path), known));
  }
  const small = files.filter((file) => !isLarge(file));
  await putOnce(store, layout.object("small"), await archiveOf(attemptDir, small));
  await putOnce(store, layout.object("result"), bodyOfBytes(read(attemptDir, RESULT_FILE)));
  await putOnce(store, layout.object("seal"), bodyOfBytes(read(attemptDir, SEAL_FILE)));
}

/** Writes an object that nobody else may have written otherwise. */
export async function putOnce(store: ObjectStore, key: string, body: ObjectBody): Promise<void> {
  if ((await store.create(key, body)) !== "differs") return;
  throw new BenchError("unavailable", `${key} is there already, with other bytes`, {
    next: "another run has this name: choose another one",
  });
}

function isLarge({ size }: SealedFile): boolean {
  return size > LARGE_FILE_BYTES;
}

/** Folders too, since an empty one is part of the tree. Equal files give equal bytes. */
async function archiveOf(attemptDir: string, files: readonly SealedFile[]): Promise<ObjectBody> {
  const folders = (await foldersOf(attemptDir))
    .map((path) => path.slice(attemptDir.length + 1))
    .filter((path) => path !== "")
    .toSorted();
  const entries: TarSource[] = [
    ...folders.map(folderEntry),
    ...files.map(({ path }) => inlineEntry(path, read(attemptDir, path))),
  ];
  return bodyOfBytes(await bytesOf({ bytes: writeTar(entries) }));
}

function folderEntry(path: string): TarSource {
  const { header } = inlineEntry(path, "", 0o755);
  return { header: { ...header, kind: "directory" } };
}

function read(attemptDir: string, path: string): Uint8Array {
  const found = readFileBytes(join(attemptDir, path), Number.MAX_SAFE_INTEGER);
  if (found.kind === "read") return found.bytes;
  const reason = found.kind === "missing" ? "is gone" : found.reason;
  throw new BenchError("unavailable", `${join(attemptDir, path)} ${reason}`, {
    next: "run the trial again",
  });
}
