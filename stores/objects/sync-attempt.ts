import { join } from "node:path";
import { BenchError } from "../../core/errors.ts";
import { Seal, type SealedFile } from "../../core/model/seal.ts";
import type { ObjectStore } from "../../core/ports/object-store.ts";
import { readTar } from "../../core/tar/read-tar.ts";
import { sha256Hex } from "../../host/sha256-hex.ts";
import { makeFolder, makeFolders } from "../files/make-folders.ts";
import { RESULT_FILE, readSeal, SEAL_FILE } from "../files/seal-folder.ts";
import { bytesOf, readObject } from "./object-body.ts";
import type { AttemptLayout } from "./run-layout.ts";
import { hashOfFile, keepLocal, storedSegments, writeVerified } from "./synced-file.ts";
import { markOf, type SyncedFolder } from "./sync-index.ts";

export interface SyncedAttempt {
  readonly folder: SyncedFolder;
  /** Files that were fetched because they were missing or held other bytes. */
  readonly fetched: number;
  /** Copies of files that someone had changed here. */
  readonly kept: readonly string[];
}

export interface AttemptCopy {
  readonly layout: AttemptLayout;
  /** The attempt's folder here. */
  readonly dir: string;
  /** What the last sync wrote there, if any. */
  readonly before: SyncedFolder | undefined;
  /** Of the manifest; null where there is none yet. */
  readonly sealSha256: string | null;
}

/**
 * Makes an attempt's folder here what its seal says: each file is compared by its hash, fetched where it
 * is missing or differs, and verified before it appears. result.json comes after all others, seal.json
 * last, so that no reader sees a result without its files. Nothing is deleted.
 */
export async function syncAttempt(store: ObjectStore, copy: AttemptCopy): Promise<SyncedAttempt> {
  const sealBytes = await readObject(store, copy.layout.object("seal"));
  const sealSha256 = sha256Hex(sealBytes ?? new Uint8Array());
  if (sealBytes === null || sealSha256 !== (copy.sealSha256 ?? sealSha256)) {
    throw damaged(copy.layout.object("seal"), "is not what the run's manifest says");
  }
  const seal = parseSeal(sealBytes, copy);
  await makeFolder(copy.dir);
  const files = seal.files.filter(({ path }) => path !== RESULT_FILE);
  const result = seal.files.find(({ path }) => path === RESULT_FILE);
  if (result === undefined) throw damaged(copy.layout.object("seal"), "lists no result");
  const kept: string[] = [];
  const wanted: SealedFile[] = [];
  for (const file of files) if (await isWanted(copy, file, kept)) wanted.push(file);
  await fetchFiles(store, copy, wanted);
  const sealFile = { path: SEAL_FILE, size: sealBytes.length, sha256: sealSha256 };
  const isNews = await isWanted(copy, result, kept);
  if (isNews) {
    const bytes = await readObject(store, copy.layout.object("result"));
    if (bytes === null) throw damaged(copy.layout.object("result"), "is gone");
    await writeVerified(copy.dir, result, bytes);
  }
  if (await isWanted(copy, sealFile, kept)) await writeVerified(copy.dir, sealFile, sealBytes);
  const marks = [...seal.files, sealFile].map((file) => markedFile(copy.dir, file));
  return {
    folder: { seal: sealSha256, files: Object.fromEntries(marks) },
    fetched: wanted.length + Number(isNews),
    kept,
  };
}

function markedFile(dir: string, file: SealedFile) {
  const mark = markOf(join(dir, file.path)) ?? "";
  return [file.path, { mark, sha256: file.sha256 }] as const;
}

/** Whether a file has to be fetched; one that was changed here since is kept under another name. */
async function isWanted(
  { dir, before }: AttemptCopy,
  file: SealedFile,
  kept: string[],
): Promise<boolean> {
  const path = join(dir, ...storedSegments(file.path));
  const found = await hashOfFile(path);
  if (found === file.sha256) return false;
  if (found === null) return true;
  const isOurs = before?.files[file.path]?.sha256 === found || isRecoveredSeal(dir, file);
  if (!isOurs) kept.push(await keepLocal(path, found));
  return true;
}

/** A sync that was killed before its last write leaves a result that a resume here seals by itself. */
function isRecoveredSeal(dir: string, { path }: SealedFile): boolean {
  if (path !== SEAL_FILE) return false;
  const found = readSeal(dir);
  return found.kind === "sealed" && found.seal.recovered;
}

async function fetchFiles(
  store: ObjectStore,
  copy: AttemptCopy,
  wanted: readonly SealedFile[],
): Promise<void> {
  const archive = await store.open(copy.layout.object("small"));
  if (archive === null) throw damaged(copy.layout.object("small"), "is gone");
  const missing = new Map(wanted.map((file) => [file.path, file]));
  for await (const { header, content } of readTar(archive.bytes)) {
    const path = new TextDecoder().decode(header.name).replace(/\/$/u, "");
    const file = missing.get(path);
    if (header.kind === "directory") await makeFolders(copy.dir, storedSegments(path));
    if (header.kind !== "file" || file === undefined) continue;
    await writeVerified(copy.dir, file, await bytesOf({ bytes: content }));
    missing.delete(path);
  }
  for (const file of missing.values()) {
    const large = await store.open(copy.layout.large(file.sha256));
    if (large === null) throw damaged(copy.layout.large(file.sha256), `is gone: ${file.path}`);
    await writeVerified(copy.dir, file, large.bytes);
  }
}

function parseSeal(bytes: Uint8Array, { layout }: AttemptCopy): Seal {
  try {
    return Seal.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (cause) {
    throw damaged(layout.object("seal"), "is no seal", cause);
  }
}

function damaged(key: string, problem: string, cause?: unknown): BenchError {
  return new BenchError("unavailable", `${key} ${problem}`, {
    next: "run the same command again; when it stays so, the run's data is damaged",
    cause,
  });
}
