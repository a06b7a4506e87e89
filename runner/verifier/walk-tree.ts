import type { ByteStream } from "../../core/ports/sandbox.ts";
import { readTar } from "../../core/tar/read-tar.ts";
import { TarError, type TarHeader } from "../../core/tar/tar-entry.ts";
import { splitPath } from "./stored-name.ts";

/** One thing below the folder that was asked for. */
export interface TreeEntry {
  readonly header: TarHeader;
  /** Names from the folder down to this entry; none for the folder itself. */
  readonly names: readonly Buffer[];
  /** The same of the file that a hard link is another name of; none for everything else. */
  readonly linkNames: readonly Buffer[];
  /** To be read before the next entry is asked for, or left alone. */
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * The entries of a tree that `Sandbox.get` gave, whatever name its archive has for the root. A name
 * that climbs or lies outside of the root is refused: no file system makes one, a forged archive can
 * (failures C-56).
 */
export async function* walkTree(archive: ByteStream): AsyncGenerator<TreeEntry, void, undefined> {
  let root: readonly Buffer[] | null = null;
  for await (const { header, content } of readTar(archive)) {
    root ??= splitPath(header.name);
    const names = below(root, splitPath(header.name));
    const linkNames = header.kind === "hardlink" ? below(root, splitPath(header.linkName)) : [];
    yield { header, names, linkNames, content };
  }
}

function below(root: readonly Buffer[], names: readonly Buffer[]): readonly Buffer[] {
  const isInside = root.every((name, depth) => names[depth]?.equals(name) === true);
  if (!isInside || names.some((name) => name.equals(CLIMB)))
    throw new TarError("archive with a name outside of its folder");
  return names.slice(root.length);
}

const CLIMB = Buffer.from("..");
