import { constants, type Stats } from "node:fs";
import { lstat, open, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import type { ByteStream } from "../../core/ports/sandbox.ts";
import { inlineEntry } from "../../core/tar/inline-entry.ts";
import type { TarHeader, TarKind } from "../../core/tar/tar-entry.ts";
import { type TarSource, writeTar } from "../../core/tar/write-tar.ts";
import {
  hasExceptions,
  type IgnoreRules,
  isIgnored,
} from "../../core/tasks/dockerfile/dockerignore.ts";
import { readIgnoreFile } from "../builds/read-ignore-file.ts";

/** A file of our own in the archive of a build context. */
export interface ExtraFile {
  readonly name: string;
  readonly content: string;
}

export interface PackOptions {
  readonly replaced?: readonly ExtraFile[];
  /** Names at the top that stay out, with what lies below. */
  readonly leaveOut?: readonly string[];
  /** Equal bytes for every checkout: one time for all, and of the modes only who may execute. */
  readonly isReproducible?: boolean;
}

/** 1 January 2000: later than 1980, before which no zip archive, hence no Python wheel, can be made. */
const FIXED_TIME_SECONDS = 946_684_800;

const NO_RULES: IgnoreRules = { patterns: [] };

/**
 * A build context as the daemon wants it: files, folders and links (kept as links), less what
 * `.dockerignore` leaves out. The Dockerfile itself always goes along, as docker's client does it.
 * Throws `build-failed` for a rule file that cannot be read.
 */
export function packContext(
  contextDir: string,
  { replaced = [], leaveOut = [], isReproducible = false }: PackOptions = {},
): ByteStream {
  const rules = readIgnoreFile(contextDir)?.rules ?? NO_RULES;
  const names = new Set([...leaveOut, ...replaced.map(({ name }) => name)]);
  async function* entries(): AsyncGenerator<TarSource, void, undefined> {
    yield* replaced.map(({ name, content }) => inlineEntry(name, content));
    for await (const entry of folderEntries({ contextDir, rules, skip: names }, ""))
      yield isReproducible ? { ...entry, header: reproducible(entry.header) } : entry;
  }
  return writeTar(entries());
}

interface Packing {
  readonly contextDir: string;
  readonly rules: IgnoreRules;
  readonly skip: ReadonlySet<string>;
}

async function* folderEntries(
  packing: Packing,
  folder: string,
): AsyncGenerator<TarSource, void, undefined> {
  // Byte names as latin1: what is no UTF-8 must come through as it is.
  const names = await readdir(Buffer.from(join(packing.contextDir, folder), "latin1"), {
    encoding: "buffer",
  });
  for (const raw of names.toSorted((a, b) => Buffer.compare(a, b))) {
    const name = `${folder}${raw.toString("latin1")}`;
    if (!packing.skip.has(name)) yield* pathEntries(packing, name);
  }
}

async function* pathEntries(
  packing: Packing,
  name: string,
): AsyncGenerator<TarSource, void, undefined> {
  const path = Buffer.concat([Buffer.from(`${packing.contextDir}/`), Buffer.from(name, "latin1")]);
  const text = Buffer.from(name, "latin1").toString("utf8");
  const isLeftOut = name !== "Dockerfile" && isIgnored(packing.rules, text);
  const stats = await lstat(path);
  if (stats.isDirectory()) {
    if (!isLeftOut) yield { header: headerOf(name, "directory", stats) };
    if (!isLeftOut || hasExceptions(packing.rules)) yield* folderEntries(packing, `${name}/`);
  } else if (isLeftOut) {
    return;
  } else if (stats.isSymbolicLink()) {
    const linkName = await readlink(path, { encoding: "buffer" });
    yield { header: { ...headerOf(name, "symlink", stats), linkName } };
  } else if (stats.isFile()) {
    yield* fileEntry(name, path);
  }
  // Sockets, pipes and devices have no place in an image: docker's client leaves them out too.
}

async function* fileEntry(name: string, path: Buffer): AsyncGenerator<TarSource, void, undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const stats = await file.stat();
    const header = { ...headerOf(name, "file", stats), sizeBytes: stats.size };
    yield { header, content: file.createReadStream({ autoClose: false }) };
  } finally {
    await file.close();
  }
}

/** Modes as git keeps them. */
function reproducible(header: TarHeader): TarHeader {
  const isExecutable = header.kind !== "file" || (header.mode & 0o111) !== 0;
  const mode = header.kind === "symlink" ? 0o777 : isExecutable ? 0o755 : 0o644;
  return { ...header, mode, mtimeSeconds: FIXED_TIME_SECONDS };
}

function headerOf(name: string, kind: TarKind, stats: Stats): TarHeader {
  return {
    kind,
    name: Buffer.from(name, "latin1"),
    mode: stats.mode & 0o7777,
    uid: 0,
    gid: 0,
    sizeBytes: 0,
    mtimeSeconds: Math.floor(stats.mtimeMs / 1000),
    linkName: new Uint8Array(),
  };
}
