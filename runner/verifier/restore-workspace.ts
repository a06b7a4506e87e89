import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { BenchError, messageOf } from "../../core/errors.ts";
import type { AttemptFolder } from "../../core/ports/attempt-folder.ts";
import type { ByteStream, Sandbox } from "../../core/ports/sandbox.ts";
import { readTar } from "../../core/tar/read-tar.ts";
import type { TarHeader } from "../../core/tar/tar-entry.ts";
import { type TarSource, writeTar } from "../../core/tar/write-tar.ts";
import { recordsOf, scriptCommand } from "./script-records.ts";
import { escapeBytes, joinNames, splitPath } from "./stored-name.ts";
import {
  ARCHIVE_PATH,
  FROZEN_FOLDERS,
  type FrozenEntry,
  FrozenManifest,
  MANIFEST_PATH,
  WORKSPACE_ROOT,
} from "./workspace-archive.ts";

export interface RestoreRequest {
  /** The attempt whose work is verified again. */
  readonly rolloutName: string;
  /** The workspace of the fresh sandbox. */
  readonly workdir: string;
  readonly signal: AbortSignal;
}

/** The manifest of 200,000 entries with long names; more is no manifest of ours. */
const MAX_MANIFEST_BYTES = 256 * 1024 * 1024;

/** Folders are emptied, not replaced: what the agent deleted must not come back from the image. */
const EMPTY_SCRIPT = String.raw`
for folder in "$WORKDIR" "$@"; do
  [ -L "$folder" ] && rm -f "$folder"
  rm -rf "$folder" 2>/dev/null || find "$folder" -mindepth 1 -exec rm -rf {} + || exit 4
  mkdir -p "$folder" || exit 4
done
printf 'done \0'
`;

/**
 * Puts a frozen workspace into a fresh sandbox for an attempt that only verifies, byte for byte.
 * Every file is compared with the manifest's hash before the first one goes in. Throws `BenchError`
 * when the saved work is damaged or gone; the sandbox is untouched then.
 */
export async function restoreWorkspace(
  sandbox: Sandbox,
  folder: AttemptFolder,
  request: RestoreRequest,
): Promise<void> {
  const manifest = await readManifest(folder, request.rolloutName);
  await checkArchive(folder.readFrom(request.rolloutName, ARCHIVE_PATH), manifest);
  const roots = rootsOf(manifest, request.workdir);
  const extra = [...roots.values()].filter((target) => target !== request.workdir);
  const command = scriptCommand(EMPTY_SCRIPT, { WORKDIR: request.workdir }, request.signal);
  const completed = await sandbox.exec({ ...command, argv: [...command.argv, "sh", ...extra] });
  recordsOf(completed, "emptying the workspace");
  for (const [root, target] of roots) {
    const archive = decompress(folder.readFrom(request.rolloutName, ARCHIVE_PATH));
    await sandbox.put(writeTar(entriesBelow(archive, root)), target);
  }
}

function rootsOf(manifest: FrozenManifest, workdir: string): ReadonlyMap<string, string> {
  const present = new Set(manifest.entries.map(({ path }) => path.split("/", 1)[0] ?? ""));
  const roots = new Map([[WORKSPACE_ROOT, workdir]]);
  for (const [name, target] of FROZEN_FOLDERS) if (present.has(name)) roots.set(name, target);
  return roots;
}

async function checkArchive(archive: ByteStream, manifest: FrozenManifest): Promise<void> {
  const expected = new Map(manifest.entries.map((entry) => [entry.path, entry]));
  try {
    for await (const { header, content } of readTar(decompress(archive))) {
      const path = pathOf(header);
      const entry = expected.get(path);
      const isSame = entry?.type === header.kind && (await hashOf(content)) === hashIn(entry);
      if (!isSame) throw damaged(`${ARCHIVE_PATH}: ${path} is not what was saved`);
      expected.delete(path);
    }
  } catch (thrown) {
    if (thrown instanceof BenchError) throw thrown;
    throw damaged(`${ARCHIVE_PATH}: ${messageOf(thrown)}`);
  }
  const [missing] = expected.keys();
  if (missing !== undefined) throw damaged(`${ARCHIVE_PATH}: ${missing} is missing`);
}

async function* entriesBelow(
  archive: ByteStream,
  root: string,
): AsyncGenerator<TarSource, void, undefined> {
  for await (const { header, content } of readTar(archive)) {
    const [first, ...names] = splitPath(header.name);
    if (first?.toString("utf8") !== root || names.length === 0) continue;
    const isLink = header.kind === "hardlink";
    const linkName = isLink ? joinNames(splitPath(header.linkName).slice(1)) : header.linkName;
    yield { header: { ...header, name: joinNames(names), linkName }, content };
  }
}

function pathOf(header: TarHeader): string {
  return escapeBytes(header.name).replace(/\/$/u, "");
}

/** sha256 of a content; of nothing for entries that have none, as `hashIn` says. */
async function hashOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of content) hash.update(chunk);
  return hash.digest("hex");
}

function hashIn(entry: FrozenEntry): string {
  return entry.sha256 ?? createHash("sha256").digest("hex");
}

async function readManifest(folder: AttemptFolder, rolloutName: string): Promise<FrozenManifest> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of folder.readFrom(rolloutName, MANIFEST_PATH)) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_MANIFEST_BYTES) throw damaged(`${MANIFEST_PATH} is ${sizeBytes} bytes`);
    chunks.push(chunk);
  }
  const parsed = FrozenManifest.safeParse(parseJson(Buffer.concat(chunks)));
  if (!parsed.success) throw damaged(`${MANIFEST_PATH} is no manifest of a workspace`);
  return parsed.data;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // What it should be is said by the caller.
    return null;
  }
}

async function* decompress(bytes: ByteStream): ByteStream {
  const gunzip = createGunzip();
  const source = Readable.from(bytes, { objectMode: false });
  source.on("error", (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  for await (const chunk of gunzip) yield Buffer.from(chunk);
}

function damaged(what: string): BenchError {
  return new BenchError("config", `saved workspace cannot be verified again: ${what}`, {
    next: "run the trial again with --fresh",
  });
}
