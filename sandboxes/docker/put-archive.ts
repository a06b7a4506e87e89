import { type ByteStream, SandboxError } from "../../core/ports/sandbox.ts";
import { readTar, type TarItem } from "../../core/tar/read-tar.ts";
import type { TarHeader } from "../../core/tar/tar-entry.ts";
import { type TarSource, writeTar } from "../../core/tar/write-tar.ts";
import { type RunInside, SMALL_ARCHIVE_BYTES, unpackInside } from "./archive-inside.ts";
import type { EngineClient } from "./engine-client.ts";
import { asSandboxError, hasStatus } from "./engine-error.ts";
import { type Ask, asText, pathParts, pathsAlong, walkPath } from "./walk-path.ts";

export interface ArchiveTarget {
  readonly client: EngineClient;
  readonly containerId: string;
  readonly ask: Ask;
  readonly runInside: RunInside;
}

/**
 * Unpacks an archive below `dir` as root inside the container's own root: a small one by the sandbox
 * itself, any other one by the daemon. Both would follow a link that stands in a folder's place, so
 * every folder on the way is looked at first, and every folder that is missing is named in the archive.
 */
export async function putArchive(
  { client, containerId, ask, runInside }: ArchiveTarget,
  { tar, dir }: { tar: ByteStream; dir: string },
): Promise<void> {
  const parts = pathParts(dir);
  const end = await walkPath(ask, pathsAlong(parts));
  if (end.kind === "link" || end.kind === "other")
    throw unsafe(`/${parts.slice(0, end.index + 1).join("/")}`, end.kind);
  const present = end.kind === "missing" ? parts.slice(0, end.index) : parts;
  const base = `/${present.join("/")}`;
  const plan = new UnpackPlan(ask, base, parts.slice(present.length));
  try {
    const { head, rest } = await takeHead(writeTar(plan.entries(tar)));
    if (rest === null && (await unpackInside(runInside, head, asText(base)))) return;
    await client.run("PUT", `/containers/${containerId}/archive`, {
      query: { path: asText(base) },
      body: joined(head, rest),
      timeoutMs: null,
    });
  } catch (error) {
    const isGone = hasStatus(error, 404, 409);
    throw asSandboxError(error, isGone ? "lost" : "unsafe-path", `cannot unpack into ${dir}`);
  }
}

type Chunks = AsyncGenerator<Uint8Array, void, undefined>;

/** The first bytes of an archive, and what comes behind them; null when these are all. */
async function takeHead(archive: Chunks): Promise<{ head: Uint8Array; rest: Chunks | null }> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for (let next = await archive.next(); next.done !== true; next = await archive.next()) {
    chunks.push(next.value);
    sizeBytes += next.value.byteLength;
    if (sizeBytes > SMALL_ARCHIVE_BYTES) return { head: Buffer.concat(chunks), rest: archive };
  }
  return { head: Buffer.concat(chunks), rest: null };
}

async function* joined(head: Uint8Array, rest: Chunks | null): Chunks {
  yield head;
  if (rest !== null) yield* rest;
}

/** What this archive, or the sandbox before it, holds under a name. */
type Place = "folder" | "new-folder" | "file" | "not-a-folder";

class UnpackPlan {
  readonly #ask: Ask;
  readonly #base: string;
  readonly #missing: readonly string[];
  readonly #places = new Map<string, Place>();

  /** `base` is a plain folder; `missing` are the folders below it that are to be made on the way. */
  constructor(ask: Ask, base: string, missing: readonly string[]) {
    this.#ask = ask;
    this.#base = base === "/" ? "" : base;
    this.#missing = missing;
  }

  async *entries(tar: ByteStream): AsyncGenerator<TarSource, void, undefined> {
    for (const [index] of this.#missing.entries()) {
      const name = this.#missing.slice(0, index + 1).join("/");
      this.#places.set(name, "new-folder");
      yield folderEntry(name);
    }
    for await (const item of readTar(tar)) {
      const parts = entryParts(item.header.name);
      if (parts.length === 0) continue;
      yield* this.#withParents([...this.#missing, ...parts], item);
    }
  }

  async *#withParents(
    parts: readonly string[],
    { header, content }: TarItem,
  ): AsyncGenerator<TarSource, void, undefined> {
    for (let depth = 1; depth < parts.length; depth += 1) {
      const name = parts.slice(0, depth).join("/");
      const place = await this.#placeOf(name, parts.slice(0, depth - 1).join("/"));
      if (place === "folder" || place === "new-folder") continue;
      if (place !== "missing") throw unsafe(`${this.#base}/${name}`, place);
      this.#places.set(name, "new-folder");
      yield folderEntry(name);
    }
    const name = parts.join("/");
    const placed = { ...header, name: Buffer.from(name, "latin1") };
    if (header.kind === "directory") await this.#enterFolder(name, parts);
    else this.#places.set(name, header.kind === "symlink" ? "not-a-folder" : "file");
    yield header.kind === "hardlink"
      ? { header: { ...placed, linkName: this.#linkTarget(header) } }
      : { header: placed, content };
  }

  /** A link in a folder's place is refused; a file there is replaced. */
  async #enterFolder(name: string, parts: readonly string[]): Promise<void> {
    const place = await this.#placeOf(name, parts.slice(0, -1).join("/"));
    if (place === "link" || place === "not-a-folder") throw unsafe(`${this.#base}/${name}`, "link");
    this.#places.set(name, place === "folder" ? "folder" : "new-folder");
  }

  async #placeOf(name: string, parent: string): Promise<Place | "missing" | "link" | "other"> {
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    // Nothing is in a folder that this archive makes but what the archive puts there.
    if (this.#places.get(parent) === "new-folder") return "missing";
    const { kind } = await walkPath(this.#ask, [`${this.#base}/${name}`]);
    if (kind === "folder") this.#places.set(name, kind);
    return kind;
  }

  /** Hard links reach only files of the same archive: any other target is the sandbox's. */
  #linkTarget(header: TarHeader): Uint8Array {
    const target = [...this.#missing, ...entryParts(header.linkName)].join("/");
    if (this.#places.get(target) !== "file") throw unsafe(asText(target), "hard link's target");
    return Buffer.from(target, "latin1");
  }
}

function entryParts(name: Uint8Array): string[] {
  const text = Buffer.from(name).toString("latin1");
  const parts = text.split("/").filter((part) => part !== "" && part !== ".");
  if (text === "" || text.startsWith("/") || parts.includes(".."))
    throw new SandboxError("unsafe-path", `the archive names ${JSON.stringify(asText(text))}`);
  return parts;
}

function folderEntry(name: string): TarSource {
  const header: TarHeader = {
    kind: "directory",
    name: Buffer.from(name, "latin1"),
    mode: 0o755,
    uid: 0,
    gid: 0,
    sizeBytes: 0,
    mtimeSeconds: Math.floor(Date.now() / 1000),
    linkName: new Uint8Array(),
  };
  return { header };
}

function unsafe(path: string, what: string): SandboxError {
  return new SandboxError("unsafe-path", `${what} in the way: ${JSON.stringify(asText(path))}`);
}
