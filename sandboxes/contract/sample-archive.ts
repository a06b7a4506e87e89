import type { ByteStream } from "../../core/ports/sandbox.ts";
import { readTar } from "../../core/tar/read-tar.ts";
import type { TarHeader } from "../../core/tar/tar-entry.ts";
import { writeTar } from "../../core/tar/write-tar.ts";

/** An archive's entry held in memory. */
export interface SampleEntry {
  readonly header: TarHeader & { readonly name: Buffer };
  readonly content: Buffer;
}

interface SampleFields extends Partial<Omit<TarHeader, "name" | "linkName" | "sizeBytes">> {
  readonly name: string | Buffer;
  readonly linkName?: string;
  readonly content?: Buffer;
}

/** An entry with everything filled in that a check does not care about: a file of root, 0644. */
export function entry({ name, linkName = "", content, ...fields }: SampleFields): SampleEntry {
  const bytes = content ?? Buffer.alloc(0);
  return {
    header: {
      kind: "file",
      mode: 0o644,
      uid: 0,
      gid: 0,
      mtimeSeconds: 1_600_000_000,
      ...fields,
      name: Buffer.from(name),
      linkName: Buffer.from(linkName),
      sizeBytes: bytes.byteLength,
    },
    content: bytes,
  };
}

export function archiveOf(entries: readonly SampleEntry[]): ByteStream {
  return writeTar(entries.map(({ header, content }) => ({ header, content: [content] })));
}

/** Reads an archive whole; directory names lose the `/` that tar ends them with. */
export async function readArchive(stream: ByteStream): Promise<SampleEntry[]> {
  const entries: SampleEntry[] = [];
  for await (const { header, content } of readTar(stream)) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    const slashed = Buffer.from(header.name);
    const name = slashed.at(-1) === 0x2f ? slashed.subarray(0, -1) : slashed;
    entries.push({ header: { ...header, name }, content: Buffer.concat(chunks) });
  }
  return entries;
}

/** What a listing compares: kind, name as bytes in latin1, and a link's target. */
export function kindAndName({ header }: SampleEntry): string {
  const target =
    header.linkName.byteLength > 0 ? ` -> ${Buffer.from(header.linkName).toString("latin1")}` : "";
  return `${header.kind} ${header.name.toString("latin1")}${target}`;
}
