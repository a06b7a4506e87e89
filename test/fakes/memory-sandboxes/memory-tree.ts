import { type ByteStream, SandboxError } from "../../../core/ports/sandbox.ts";
import { readTar } from "../../../core/tar/read-tar.ts";
import type { TarHeader } from "../../../core/tar/tar-entry.ts";
import { type TarSource, writeTar } from "../../../core/tar/write-tar.ts";

/** A file, folder, link or pipe; names are strings of bytes (latin1), as in an archive. */
interface MemoryNode {
  readonly header: Omit<TarHeader, "name" | "sizeBytes">;
  readonly content: Buffer;
  readonly children: Map<string, MemoryNode>;
}

const PLAIN = { mode: 0o644, uid: 0, gid: 0, mtimeSeconds: 0, linkName: new Uint8Array() } as const;

/** The file system of one memory sandbox: what `put` and `get` promise, with no link ever followed. */
export class MemoryTree {
  readonly #root = folderNode();

  async put(tar: ByteStream, dir: string): Promise<void> {
    const base = makeFolder(this.#root, partsOf(dir));
    for await (const { header, content } of readTar(tar)) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of content) chunks.push(chunk);
      place(base, header, Buffer.concat(chunks));
    }
  }

  async *get(path: string): ByteStream {
    const parts = partsOf(path);
    const node = find(this.#root, parts);
    yield* writeTar(entriesOf(node, parts.at(-1) ?? "", new Map()));
  }

  /** The bytes of a plain file, for the programs of a sandbox; null when there is none. */
  read(path: string): Buffer | null {
    const node = this.#lookUp(path);
    return node?.header.kind === "file" ? node.content : null;
  }

  write(path: string, content: string | Uint8Array): void {
    const parts = partsOf(path);
    const parent = makeFolder(this.#root, parts.slice(0, -1));
    const node = { header: { ...PLAIN, kind: "file" }, content: Buffer.from(content) } as const;
    parent.children.set(parts.at(-1) ?? "", { ...node, children: new Map() });
  }

  makeFolder(path: string): void {
    makeFolder(this.#root, partsOf(path));
  }

  remove(path: string): void {
    const parts = partsOf(path);
    const parent = this.#lookUp(parts.slice(0, -1).join("/"));
    parent?.children.delete(parts.at(-1) ?? "");
  }

  kindOf(path: string): TarHeader["kind"] | null {
    return this.#lookUp(path)?.header.kind ?? null;
  }

  #lookUp(path: string): MemoryNode | null {
    try {
      return find(this.#root, partsOf(path));
    } catch (error) {
      if (error instanceof SandboxError) return null;
      throw error;
    }
  }
}

function folderNode(header: Partial<MemoryNode["header"]> = {}): MemoryNode {
  return {
    header: { ...PLAIN, mode: 0o755, ...header, kind: "directory" },
    content: Buffer.alloc(0),
    children: new Map(),
  };
}

function partsOf(path: string): string[] {
  const bytes = Buffer.from(path).toString("latin1");
  return bytes.split("/").filter((part) => part !== "" && part !== ".");
}

/** Parts of a name in an archive: hostile, so it may not leave the folder that it is put into. */
function safeParts(name: Uint8Array): string[] {
  const text = Buffer.from(name).toString("latin1").replace(/\/$/u, "");
  const parts = text.split("/").filter((part) => part !== ".");
  if (text === "" || parts.includes("") || parts.includes(".."))
    throw new SandboxError("unsafe-path", `${JSON.stringify(text)} leaves its folder`);
  return parts;
}

function makeFolder(root: MemoryNode, parts: readonly string[]): MemoryNode {
  let node = root;
  for (const part of parts) {
    const next = node.children.get(part) ?? folderNode();
    if (next.header.kind !== "directory")
      throw new SandboxError("unsafe-path", `${part} is no folder`);
    node.children.set(part, next);
    node = next;
  }
  return node;
}

function find(root: MemoryNode, parts: readonly string[]): MemoryNode {
  let node = root;
  for (const part of parts) {
    if (node.header.kind === "symlink")
      throw new SandboxError("unsafe-path", `a link stands above ${part}`);
    const next = node.children.get(part);
    if (next === undefined) throw new SandboxError("not-found", `${part} is not there`);
    node = next;
  }
  return node;
}

function place(base: MemoryNode, header: TarHeader, content: Buffer): void {
  const parts = safeParts(header.name);
  const name = parts.at(-1) ?? "";
  const parent = makeFolder(base, parts.slice(0, -1));
  const there = parent.children.get(name);
  if (there?.header.kind === "directory" && header.kind !== "directory")
    throw new SandboxError("unsafe-path", `${name} is a folder`);
  if (header.kind === "hardlink") {
    parent.children.set(name, find(base, safeParts(header.linkName)));
  } else if (header.kind === "directory") {
    const old = makeFolder(parent, [name]);
    parent.children.set(name, { ...folderNode(header), children: old.children });
  } else parent.children.set(name, { header, content, children: new Map() });
}

function* entriesOf(
  node: MemoryNode,
  name: string,
  seen: Map<MemoryNode, string>,
): Generator<TarSource> {
  const bytes = Buffer.from(name, "latin1");
  const first = seen.get(node);
  if (first !== undefined) {
    const linkName = Buffer.from(first, "latin1");
    yield { header: { ...node.header, kind: "hardlink", name: bytes, linkName, sizeBytes: 0 } };
    return;
  }
  seen.set(node, name);
  const sizeBytes = node.content.length;
  yield { header: { ...node.header, name: bytes, sizeBytes }, content: [node.content] };
  for (const [child, below] of node.children) yield* entriesOf(below, `${name}/${child}`, seen);
}
