import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { lstat, open, readdir, readlink } from "node:fs/promises";
import { basename, join } from "node:path";
import type { TaskEntry, TaskFiles } from "../../core/tasks/task-files.ts";
import { isTextWanted } from "../../core/tasks/task-files.ts";

/** A definition larger than this is a mistake or an attack; real ones have a few kB. */
const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_ENTRIES = 200_000;
const CHUNK_BYTES = 256 * 1024;

/** Why one task's folder cannot be read: becomes its line in the list of skipped tasks. */
export class UnreadableTask extends Error {
  override readonly name = "UnreadableTask";
}

/**
 * Lists a task's folder, hashes every file and keeps the text of those that define the task. No
 * link is followed, nothing but regular files is opened, and memory does not grow with their size.
 * Throws `UnreadableTask`.
 */
export async function readTaskFiles(dir: string): Promise<TaskFiles> {
  const entries = new Map<string, TaskEntry>();
  const texts = new Map<string, string>();
  await readFolder(dir, "", { entries, texts });
  return { name: basename(dir), entries, texts };
}

interface Found {
  readonly entries: Map<string, TaskEntry>;
  readonly texts: Map<string, string>;
}

async function readFolder(dir: string, prefix: string, found: Found): Promise<void> {
  const names = await explain(prefix || ".", readdir(join(dir, prefix), { encoding: "buffer" }));
  for (const bytes of names) {
    const name = decodeName(bytes, prefix);
    const path = prefix === "" ? name : `${prefix}/${name}`;
    const stats = await explain(path, lstat(join(dir, path)));
    const text = isTextWanted(path) && stats.isFile();
    if (text) refuseLargeText(path, stats);
    const entry = await explain(path, readEntry(join(dir, path), stats, text));
    found.entries.set(path, entry.entry);
    if (text) found.texts.set(path, decodeText(path, entry.bytes));
    if (found.entries.size > MAX_ENTRIES) {
      throw new UnreadableTask(`more than ${MAX_ENTRIES} files and folders`);
    }
    if (stats.isDirectory()) await readFolder(dir, path, found);
  }
}

async function readEntry(path: string, stats: Stats, keepBytes: boolean) {
  const kind = kindOf(stats);
  const executable = kind === "file" && (stats.mode & 0o111) !== 0;
  const target = kind === "symlink" ? await readlink(path) : "";
  const content = kind === "file" ? await hashFile(path, keepBytes) : null;
  const sizeBytes = content?.sizeBytes ?? 0;
  const sha256 = content?.sha256 ?? "";
  const entry: TaskEntry = { kind, sizeBytes, executable, sha256, target };
  return { entry, bytes: content?.bytes ?? new Uint8Array() };
}

function kindOf(stats: Stats): TaskEntry["kind"] {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "folder";
  return stats.isSymbolicLink() ? "symlink" : "other";
}

/** Hashes a file piece by piece. A file that became a link or a pipe since it was listed is refused. */
export async function hashFile(path: string, keepBytes: boolean) {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new UnreadableTask("changed while it was read");
    return await hashHandle(file, keepBytes);
  } finally {
    await file.close();
  }
}

async function hashHandle(file: FileHandle, keepBytes: boolean) {
  const hash = createHash("sha256");
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const kept: Buffer[] = [];
  let sizeBytes = 0;
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES);
    if (bytesRead === 0) break;
    const part = chunk.subarray(0, bytesRead);
    hash.update(part);
    sizeBytes += bytesRead;
    if (keepBytes && sizeBytes > MAX_TEXT_BYTES) throw new UnreadableTask("grew while it was read");
    if (keepBytes) kept.push(Buffer.from(part));
  }
  return { sha256: hash.digest("hex"), sizeBytes, bytes: Buffer.concat(kept) };
}

function refuseLargeText(path: string, { size }: Stats): void {
  if (size <= MAX_TEXT_BYTES) return;
  throw new UnreadableTask(`${path}: has ${size} bytes, at most ${MAX_TEXT_BYTES} are read`);
}

/** A name that is no UTF-8 has no one spelling in digests and results. */
function decodeName(bytes: Buffer, prefix: string): string {
  const name = bytes.toString("utf8");
  if (Buffer.from(name, "utf8").equals(bytes)) return name;
  const shown = JSON.stringify(bytes.toString("latin1"));
  throw new UnreadableTask(`${prefix || "."}: a file name is not valid UTF-8: ${shown}`);
}

/** Definitions must be UTF-8; scripts may hold any bytes. */
function decodeText(path: string, bytes: Uint8Array): string {
  const isScript = path.endsWith(".sh");
  try {
    return new TextDecoder("utf-8", { fatal: !isScript, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UnreadableTask(`${path}: is not valid UTF-8`);
  }
}

async function explain<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof UnreadableTask) {
      throw error.message.startsWith(path)
        ? error
        : new UnreadableTask(`${path}: ${error.message}`);
    }
    const code = error instanceof Error && "code" in error ? String(error.code) : "failed";
    throw new UnreadableTask(`${path}: cannot be read (${code})`);
  }
}
