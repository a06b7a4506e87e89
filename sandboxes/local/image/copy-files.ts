import { constants, createReadStream, openSync, readSync, closeSync, readlinkSync } from "node:fs";
import { posix } from "node:path";
import { type ByteStream, SandboxError } from "../../../core/ports/sandbox.ts";
import { readIgnorePatterns, isIgnored } from "../../../core/tasks/dockerfile/dockerignore.ts";
import type {
  AddInstruction,
  CopyInstruction,
} from "../../../core/tasks/dockerfile/instruction.ts";
import { resolvePath } from "../../../core/tasks/dockerfile/apply-instruction.ts";
import { inlineEntry } from "../../../core/tar/inline-entry.ts";
import { type TarSource, writeTar } from "../../../core/tar/write-tar.ts";
import type { BuildContext, ContextEntry } from "./build-context.ts";
import type { BuildShell } from "./build-shell.ts";

/** What a copy needs besides the instruction, whose variables are expanded. */
export interface CopyPlace {
  readonly context: BuildContext;
  readonly shell: BuildShell;
  readonly workdir: string;
}

interface Ownership {
  readonly uid: number;
  readonly gid: number;
  /** null keeps each file's own mode. */
  readonly mode: number | null;
}

/** Where a copy goes: a folder that is there or will be, or the one name of a file in it. */
interface Target {
  readonly dir: string;
  readonly fileName: string | null;
}

/**
 * Carries out a COPY or an ADD from the build context, as BuildKit does: a folder gives its content,
 * a file lands in a folder if the destination is one, owner root unless `--chown` says otherwise, ADD
 * unpacks local archives.
 */
export async function copyFiles(
  instruction: CopyInstruction | AddInstruction,
  place: CopyPlace,
): Promise<void> {
  const { context, shell, workdir } = place;
  const { line, dest } = instruction;
  const ownership = await ownershipOf(instruction, shell);
  const sources = instruction.sources.flatMap((source) => context.find(source, line));
  const isFolder = dest.endsWith("/") || sources.length + instruction.files.length > 1;
  const target = await targetOf({ path: resolvePath(workdir, dest), isFolder, sources }, shell);
  const archives =
    instruction.kind === "ADD" && instruction.unpack !== false ? sources.filter(isArchive) : [];
  const plain = sources.filter((source) => !archives.includes(source));
  const entries = [
    ...plain.flatMap((source) =>
      entriesOf(source, { context, target, exclude: instruction.exclude }),
    ),
    ...instruction.files.map(({ name, content }) => inlineEntry(target.fileName ?? name, content)),
  ];
  await shell.sandbox.put(writeTar(entries.map((entry) => owned(entry, ownership))), target.dir);
  for (const archive of archives) await unpackArchive(archive, target, shell);
}

async function ownershipOf(
  { chown, chmod, line }: CopyInstruction | AddInstruction,
  shell: BuildShell,
): Promise<Ownership> {
  if (chmod !== null && !/^[0-7]{3,4}$/u.test(chmod))
    throw new SandboxError(
      "unsupported",
      `Dockerfile:${String(line)}: --chmod=${chmod} is not octal: use --env docker`,
    );
  const { uid, gid } = chown === null ? { uid: 0, gid: 0 } : await shell.findUser(chown, line);
  return { uid, gid, mode: chmod === null ? null : Number.parseInt(chmod, 8) };
}

/** Links on the way are followed, inside the image, as Docker does: /bin is one. */
async function targetOf(
  wanted: {
    readonly path: string;
    readonly isFolder: boolean;
    readonly sources: readonly ContextEntry[];
  },
  shell: BuildShell,
): Promise<Target> {
  const answer = await shell.ask(
    'realpath -m -- "$1" && if [ -d "$1" ]; then echo folder; fi',
    wanted.path,
  );
  const [path = wanted.path, kind] = (answer ?? wanted.path).split("\n");
  const isOneFile = wanted.sources.every((source) => source.kind === "file") && !wanted.isFolder;
  if (!isOneFile || kind === "folder") return { dir: path, fileName: null };
  return { dir: posix.dirname(path), fileName: posix.basename(path) };
}

interface Copying {
  readonly context: BuildContext;
  readonly target: Target;
  readonly exclude: readonly string[];
}

function entriesOf(source: ContextEntry, { context, target, exclude }: Copying): TarSource[] {
  const rules = readIgnorePatterns(exclude);
  if (source.kind === "directory")
    return context
      .below(source)
      .filter(({ name }) => !isIgnored(rules, name.toString("utf8")))
      .map((entry) => tarSource(entry, entry.name));
  const base = Buffer.from(posix.basename(source.name.toString("latin1")), "latin1");
  return [tarSource(source, target.fileName === null ? base : Buffer.from(target.fileName))];
}

function tarSource({ kind, path, stats }: ContextEntry, name: Buffer): TarSource {
  const header = {
    kind,
    name,
    mode: stats.mode & 0o7777,
    uid: 0,
    gid: 0,
    sizeBytes: kind === "file" ? stats.size : 0,
    mtimeSeconds: Math.floor(stats.mtimeMs / 1000),
    linkName: kind === "symlink" ? readlinkSync(path, { encoding: "buffer" }) : new Uint8Array(),
  };
  return kind === "file" && stats.size > 0 ? { header, content: contentOf(path) } : { header };
}

/** The file is opened when its turn comes, not before, and never through a link. */
async function* contentOf(path: Buffer): AsyncGenerator<Uint8Array, void, undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
  for await (const chunk of createReadStream(path, { fd: openSync(path, flags) }))
    yield Buffer.from(chunk);
}

function owned({ header, ...rest }: TarSource, { uid, gid, mode }: Ownership): TarSource {
  const isLink = header.kind === "symlink";
  return {
    header: { ...header, uid, gid, mode: isLink || mode === null ? header.mode : mode },
    ...rest,
  };
}

/** Magic numbers of the archives that ADD unpacks: gzip, bzip2, xz, and tar's own at 257. */
function isArchive({ kind, path }: ContextEntry): boolean {
  if (kind !== "file") return false;
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const head = Buffer.alloc(512);
    readSync(fd, head, 0, head.byteLength, 0);
    const starts = ["1f8b08", "425a68", "fd377a585a00"];
    return (
      starts.some((hex) => head.toString("hex").startsWith(hex)) ||
      head.toString("latin1", 257, 262) === "ustar"
    );
  } finally {
    closeSync(fd);
  }
}

const UNPACK = 'mkdir -p -- "$2" && tar -C "$2" --numeric-owner -xf "$1" && rm -- "$1"';

/** tar runs inside the sandbox: what a hostile archive does to links, it does to its own image. */
async function unpackArchive(
  archive: ContextEntry,
  { dir }: Target,
  shell: BuildShell,
): Promise<void> {
  const name = ".bench-archive";
  const content: ByteStream = writeTar([tarSource(archive, Buffer.from(name))]);
  await shell.sandbox.put(content, "/");
  const done = await shell.run({ argv: ["/bin/sh", "-c", UNPACK, "sh", `/${name}`, dir] });
  if (done.exitCode !== 0)
    throw new SandboxError(
      "build-failed",
      `${archive.name.toString("utf8")} could not be unpacked`,
    );
}
