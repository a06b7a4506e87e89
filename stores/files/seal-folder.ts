import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Seal } from "../../core/model/seal.ts";
import type { SealCheck, SealedFile } from "../../core/model/seal.ts";
import { readFileBytes, streamFile } from "./read-file.ts";
import { isMissing, storeError } from "./store-error.ts";
import { isTemporaryName } from "./temporary-name.ts";
import type { WrittenFile } from "./write-atomic.ts";

export const SEAL_FILE = "seal.json";
export const RESULT_FILE = "result.json";
const MAX_SEAL_BYTES = 64 * 1024 * 1024;

export interface SealOptions {
  /** Hashes of files whose bytes just went through: they need not be read again. */
  readonly known: ReadonlyMap<string, WrittenFile>;
  readonly recovered: boolean;
}

/** The seal of the folder as it is now: every plain file hashed, links and others only named. */
export async function sealOf(folder: string, options: SealOptions): Promise<Seal> {
  const files: SealedFile[] = [];
  const other: Seal["other"] = [];
  for await (const { path, entry } of walk(folder, "")) {
    if (path === SEAL_FILE) continue;
    if (!entry.isFile()) {
      other.push({ path, type: entry.isSymbolicLink() ? "link" : "special" });
      continue;
    }
    files.push(await sealedFile(folder, path, options.known.get(path)));
  }
  return { schema_version: 1, files, other, recovered: options.recovered };
}

export function sealText(seal: Seal): string {
  return `${JSON.stringify(seal, null, 2)}\n`;
}

/** Every folder below and including this one, deepest first, so that a sync of each is complete. */
export async function foldersOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const below = await Promise.all(
    entries.filter((entry) => entry.isDirectory()).map(({ name }) => foldersOf(join(folder, name))),
  );
  return [...below.flat(), folder];
}

export type FoundSeal =
  | { readonly kind: "sealed"; readonly seal: Seal }
  | { readonly kind: "absent" }
  | { readonly kind: "broken"; readonly reason: string };

export function readSeal(folder: string): FoundSeal {
  const found = readFileBytes(join(folder, SEAL_FILE), MAX_SEAL_BYTES);
  if (found.kind === "missing") return { kind: "absent" };
  if (found.kind === "refused") return { kind: "broken", reason: found.reason };
  try {
    return { kind: "sealed", seal: Seal.parse(JSON.parse(new TextDecoder().decode(found.bytes))) };
  } catch {
    return { kind: "broken", reason: "is not a seal" };
  }
}

/** Hashes every sealed file again. Never throws for what the folder holds. */
export async function checkSealOf(folder: string): Promise<SealCheck> {
  const found = readSeal(folder);
  if (found.kind === "absent") return { state: "absent", problems: [], extra: [] };
  if (found.kind === "broken") {
    return { state: "broken", problems: [`${SEAL_FILE} ${found.reason}`], extra: [] };
  }
  const sealed = new Map(found.seal.files.map((file) => [file.path, file]));
  const problems: string[] = [];
  const extra: string[] = [];
  const known = new Set([SEAL_FILE, ...found.seal.other.map(({ path }) => path)]);
  for await (const { path, entry } of walk(folder, "")) {
    const expected = sealed.get(path);
    sealed.delete(path);
    if (expected !== undefined) problems.push(...(await differences(folder, expected, entry)));
    else if (!known.has(path)) extra.push(path);
  }
  problems.push(...[...sealed.keys()].map((path) => `${path} is missing`));
  return { state: problems.length === 0 ? "intact" : "broken", problems, extra };
}

/** Whether the bytes are those of the sealed file of that path. */
export function matchesSeal(seal: Seal, path: string, bytes: Uint8Array): boolean {
  const sealed = seal.files.find((file) => file.path === path);
  return sealed?.size === bytes.length && sealed.sha256 === hexDigest(bytes);
}

async function differences(
  folder: string,
  expected: SealedFile,
  entry: Dirent,
): Promise<readonly string[]> {
  if (!entry.isFile()) return [`${expected.path} is not a plain file any more`];
  const now = await sealedFile(folder, expected.path, undefined);
  if (now.size !== expected.size) {
    return [`${expected.path} has ${now.size} bytes, sealed with ${expected.size}`];
  }
  return now.sha256 === expected.sha256 ? [] : [`${expected.path} has other bytes than sealed`];
}

async function sealedFile(
  folder: string,
  path: string,
  known: WrittenFile | undefined,
): Promise<SealedFile> {
  const absolute = join(folder, path);
  try {
    const { size } = await lstat(absolute);
    if (known?.sizeBytes === size) return { path, size, sha256: known.sha256 };
  } catch (error) {
    throw storeError(error, "seal", absolute);
  }
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of streamFile(absolute)) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { path, size, sha256: hash.digest("hex") };
}

interface WalkedEntry {
  /** Relative, `/`-separated. */
  readonly path: string;
  readonly entry: Dirent;
}

/** Everything in the folder that is no folder, in byte order; links are not followed. */
async function* walk(root: string, relative: string): AsyncGenerator<WalkedEntry> {
  const entries = await listFolder(join(root, relative));
  entries.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
  for (const entry of entries) {
    const path = relative === "" ? entry.name : `${relative}/${entry.name}`;
    if (entry.isDirectory()) yield* walk(root, path);
    else if (!isTemporaryName(entry.name)) yield { path, entry };
  }
}

async function listFolder(path: string): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    throw storeError(error, "list", path);
  }
}

function hexDigest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
