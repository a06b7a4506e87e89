import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { basename, join } from "node:path";
import type { TaskEntry, TaskFiles } from "../../core/tasks/task-files.ts";
import { isTextWanted } from "../../core/tasks/task-files.ts";

/** A definition larger than this is a mistake or an attack; real ones have a few kB. */
const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_ENTRIES = 200_000;
const CHUNK_BYTES = 256 * 1024;
/** Files up to this size are read at once: a thread's round trip costs more than their bytes. */
const MAX_SYNC_BYTES = CHUNK_BYTES;
/** A link, or a pipe that nobody writes to, must not be opened by a race. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

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
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const path of listFolder(dir, folder)) {
      const full = join(dir, path);
      const stats = explain(path, () => lstatSync(full));
      const keepText = isTextWanted(path) && stats.isFile();
      if (keepText) refuseLargeText(path, stats);
      const content = stats.isFile() ? await readFile(path, full, stats.size) : null;
      entries.set(
        path,
        explain(path, () => describeEntry(full, stats, content)),
      );
      if (keepText) texts.set(path, decodeText(path, content?.bytes ?? new Uint8Array()));
      if (stats.isDirectory()) folders.push(path);
      if (entries.size > MAX_ENTRIES) {
        throw new UnreadableTask(`more than ${MAX_ENTRIES} files and folders`);
      }
    }
  }
  return { name: basename(dir), entries, texts };
}

function listFolder(dir: string, folder: string): readonly string[] {
  const shown = folder || ".";
  const names = explain(shown, () => readdirSync(join(dir, folder), { encoding: "buffer" }));
  return names.map((bytes) => {
    const name = decodeName(bytes, shown);
    return folder === "" ? name : `${folder}/${name}`;
  });
}

function describeEntry(full: string, stats: Stats, content: Content | null): TaskEntry {
  const kind = kindOf(stats);
  return {
    kind,
    sizeBytes: content?.sizeBytes ?? 0,
    executable: kind === "file" && (stats.mode & 0o111) !== 0,
    sha256: content?.sha256 ?? "",
    target: kind === "symlink" ? readlinkSync(full) : "",
  };
}

function kindOf(stats: Stats): TaskEntry["kind"] {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "folder";
  return stats.isSymbolicLink() ? "symlink" : "other";
}

interface Content {
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Empty for a file that is too large to keep. */
  readonly bytes: Uint8Array;
}

async function readFile(path: string, full: string, sizeBytes: number): Promise<Content> {
  if (sizeBytes <= MAX_SYNC_BYTES) return explain(path, () => readSmallFile(full, sizeBytes));
  try {
    return await readLargeFile(full);
  } catch (error) {
    throw explained(path, error);
  }
}

function readSmallFile(full: string, expectedBytes: number): Content {
  const file = openSync(full, OPEN_FLAGS);
  try {
    refuseChanged(fstatSync(file));
    const bytes = Buffer.allocUnsafe(expectedBytes + 1);
    const sizeBytes = readSync(file, bytes, 0, bytes.length, 0);
    if (sizeBytes > expectedBytes) throw new UnreadableTask("grew while it was read");
    const content = bytes.subarray(0, sizeBytes);
    return {
      sha256: createHash("sha256").update(content).digest("hex"),
      sizeBytes,
      bytes: content,
    };
  } finally {
    closeSync(file);
  }
}

async function readLargeFile(full: string): Promise<Content> {
  const file = await open(full, OPEN_FLAGS);
  try {
    const { size } = refuseChanged(await file.stat());
    const hash = createHash("sha256");
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const kept: Buffer[] = [];
    let sizeBytes = 0;
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES);
      if (bytesRead === 0) break;
      hash.update(chunk.subarray(0, bytesRead));
      sizeBytes += bytesRead;
      if (size <= MAX_TEXT_BYTES) kept.push(Buffer.from(chunk.subarray(0, bytesRead)));
      if (sizeBytes > size) throw new UnreadableTask("grew while it was read");
    }
    return { sha256: hash.digest("hex"), sizeBytes, bytes: Buffer.concat(kept) };
  } finally {
    await file.close();
  }
}

function refuseChanged(stats: Stats): Stats {
  if (!stats.isFile()) throw new UnreadableTask("changed while it was read");
  return stats;
}

function refuseLargeText(path: string, { size }: Stats): void {
  if (size <= MAX_TEXT_BYTES) return;
  throw new UnreadableTask(`${path}: has ${size} bytes, at most ${MAX_TEXT_BYTES} are read`);
}

/** A name that is no UTF-8 has no one spelling in digests and results. */
function decodeName(bytes: Buffer, folder: string): string {
  const name = bytes.toString("utf8");
  if (!name.includes("\uFFFD") || Buffer.from(name, "utf8").equals(bytes)) return name;
  const shown = JSON.stringify(bytes.toString("latin1"));
  throw new UnreadableTask(`${folder}: a file name is not valid UTF-8: ${shown}`);
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

function explain<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw explained(path, error);
  }
}

function explained(path: string, error: unknown): UnreadableTask {
  if (error instanceof UnreadableTask) return new UnreadableTask(`${path}: ${error.message}`);
  const code = error instanceof Error && "code" in error ? String(error.code) : "failed";
  return new UnreadableTask(`${path}: cannot be read (${code})`);
}
