import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { BenchError } from "../../core/errors.ts";
import type { AttemptFolder } from "../../core/ports/attempt-folder.ts";
import type { ByteStream, Sandbox } from "../../core/ports/sandbox.ts";
import { readTar } from "../../core/tar/read-tar.ts";
import { type TarSource, writeTar } from "../../core/tar/write-tar.ts";
import { recordsOf, scriptCommand } from "./script-records.ts";
import { escapeBytes, joinNames, splitPath } from "./stored-name.ts";
import {
  ARCHIVE_PATH,
  FROZEN_FOLDERS,
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
 * Puts a frozen workspace into a fresh sandbox for an attempt that only verifies, byte for byte:
 * every file is compared with the manifest's hash while it goes in. Throws `BenchError` when the
 * saved work is damaged or gone; nothing is verified then.
 */
export async function restoreWorkspace(
  sandbox: Sandbox,
  folder: AttemptFolder,
  request: RestoreRequest,
): Promise<void> {
  const manifest = await readManifest(folder, request.rolloutName);
  const roots = rootsOf(manifest, request.workdir);
  const extra = [...roots.values()].filter((target) => target !== request.workdir);
  const command = scriptCommand(EMPTY_SCRIPT, { WORKDIR: request.workdir }, request.signal);
  const completed = await sandbox.exec({ ...command, argv: [...command.argv, "sh", ...extra] });
  recordsOf(completed, "emptying the workspace");
  for (const [root, target] of roots) {
    const archive = decompress(folder.readFrom(request.rolloutName, ARCHIVE_PATH));
    await sandbox.put(writeTar(checkedEntries(archive, manifest, root)), target);
  }
}

function rootsOf(manifest: FrozenManifest, workdir: string): ReadonlyMap<string, string> {
  const present = new Set(manifest.entries.map(({ path }) => path.split("/", 1)[0] ?? ""));
  const roots = new Map([[WORKSPACE_ROOT, workdir]]);
  for (const [name, target] of FROZEN_FOLDERS) if (present.has(name)) roots.set(name, target);
  return roots;
}

async function* checkedEntries(
  archive: ByteStream,
  manifest: FrozenManifest,
  root: string,
): AsyncGenerator<TarSource, void, undefined> {
  const hashes = new Map(manifest.entries.map(({ path, sha256 }) => [path, sha256]));
  for await (const { header, content } of readTar(archive)) {
    const [first, ...names] = splitPath(header.name);
    if (first?.toString("utf8") !== root || names.length === 0) continue;
    const path = escapeBytes(header.name).replace(/\/$/u, "");
    const isLink = header.kind === "hardlink";
    const linkName = isLink ? joinNames(splitPath(header.linkName).slice(1)) : header.linkName;
    yield {
      header: { ...header, name: joinNames(names), linkName },
      content: checkedContent(content, path, hashes.get(path)),
    };
  }
}

async function* checkedContent(
  content: AsyncIterable<Uint8Array>,
  path: string,
  sha256: string | undefined,
): ByteStream {
  const hash = createHash("sha256");
  let isEmpty = true;
  for await (const chunk of content) {
    isEmpty = false;
    hash.update(chunk);
    yield chunk;
  }
  const isSame = sha256 === undefined ? isEmpty : hash.digest("hex") === sha256;
  if (!isSame) throw damaged(`${ARCHIVE_PATH}: ${path} is not what was saved`);
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
