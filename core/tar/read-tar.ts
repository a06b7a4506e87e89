import { ByteReader } from "./byte-reader.ts";
import { applyPax, type PaxRecords, parsePax } from "./pax-records.ts";
import { TAR_BLOCK_BYTES, TarError, type TarHeader, type TarKind } from "./tar-entry.ts";

/** An entry as it is read: `content` must be drained, or is skipped when the next entry is asked for. */
export interface TarItem {
  readonly header: TarHeader;
  readonly content: AsyncIterable<Uint8Array>;
}

/** Bytes of one long name or extended header; more is an attack on memory, not a file name. */
const MAX_EXTENSION_BYTES = 1024 * 1024;

const KINDS: Readonly<Record<string, TarKind>> = {
  "\0": "file",
  "0": "file",
  "7": "file",
  "1": "hardlink",
  "2": "symlink",
  "5": "directory",
  "6": "fifo",
};

/**
 * Reads a tar archive (ustar, pax, GNU long names) entry by entry, holding one block in memory.
 * Refuses what it cannot represent (devices, sparse files), what is damaged and what ends early: a
 * cut archive must never pass for a whole one.
 */
export async function* readTar(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<TarItem, void, undefined> {
  const reader = new ByteReader(source);
  let pending: Record<string, Uint8Array> = {};
  try {
    for (;;) {
      const block = await reader.read(TAR_BLOCK_BYTES);
      if (block.every((byte) => byte === 0)) break;
      const raw = decodeBlock(block);
      const extension = await readExtension(reader, raw);
      if (extension !== null) {
        pending = Object.assign(pending, extension);
        continue;
      }
      const header = applyPax(asHeader(raw), pending);
      pending = {};
      const content = new EntryContent(reader, header.sizeBytes);
      yield { header, content };
      await content.skip();
    }
    await reader.drain();
  } finally {
    await reader.close();
  }
}

interface RawHeader extends Omit<TarHeader, "kind"> {
  readonly typeFlag: string;
}

/** Records that an `x`, `L` or `K` entry sets for the next one; null for an entry of its own. */
async function readExtension(reader: ByteReader, raw: RawHeader): Promise<PaxRecords | null> {
  if (!["x", "g", "L", "K"].includes(raw.typeFlag)) return null;
  if (raw.sizeBytes > MAX_EXTENSION_BYTES)
    throw new TarError(`extended header of ${String(raw.sizeBytes)} bytes, limit 1 MiB`);
  const body = await reader.read(raw.sizeBytes);
  await reader.read(paddingOf(raw.sizeBytes));
  if (raw.typeFlag === "x") return parsePax(body);
  // A global header sets defaults that no writer we know uses for names or sizes; it is skipped.
  if (raw.typeFlag === "g") return {};
  const text = untilNul(body);
  return raw.typeFlag === "L" ? { path: text } : { linkpath: text };
}

function asHeader(raw: RawHeader): TarHeader {
  const { typeFlag, ...fields } = raw;
  // The type alone says what an entry is. A name that ends in a slash says nothing: of a long name
  // the header holds only the first hundred bytes, and taking such a file for a folder would read
  // its content, which an agent chose, as the next headers.
  const kind = KINDS[typeFlag];
  if (kind === undefined)
    throw new TarError(
      `entry ${JSON.stringify(new TextDecoder().decode(fields.name))} is of type ${JSON.stringify(typeFlag)}, which is not unpacked`,
    );
  return { ...fields, kind, sizeBytes: kind === "file" ? fields.sizeBytes : 0 };
}

function decodeBlock(block: Uint8Array): RawHeader {
  let sum = 0;
  block.forEach((byte, index) => {
    sum += index >= 148 && index < 156 ? 0x20 : byte;
  });
  if (sum !== numberAt(block, 148, 8)) throw new TarError("header with a wrong checksum");
  const isUstar = new TextDecoder().decode(block.subarray(257, 263)) === "ustar\0";
  const prefix = isUstar ? untilNul(block.subarray(345, 500)) : new Uint8Array();
  const name = untilNul(block.subarray(0, 100));
  return {
    name: prefix.byteLength === 0 ? name : joined(prefix, name),
    mode: numberAt(block, 100, 8) & 0o7777,
    uid: numberAt(block, 108, 8),
    gid: numberAt(block, 116, 8),
    sizeBytes: numberAt(block, 124, 12),
    mtimeSeconds: numberAt(block, 136, 12),
    typeFlag: String.fromCodePoint(block[156] ?? 0),
    linkName: untilNul(block.subarray(157, 257)),
  };
}

/** Octal digits, or GNU's base 256 when the first bit is set. Negative and huge numbers are refused. */
function numberAt(block: Uint8Array, offset: number, length: number): number {
  const field = block.subarray(offset, offset + length);
  const first = field[0] ?? 0;
  let value = 0;
  if (first >= 0x80) {
    if (first !== 0x80) throw new TarError("header with a negative number");
    for (const byte of field.subarray(1)) value = value * 256 + byte;
  } else {
    const text = new TextDecoder("latin1").decode(untilNul(field)).trim();
    if (!/^[0-7]*$/u.test(text))
      throw new TarError(`header with the number ${JSON.stringify(text)}`);
    value = text === "" ? 0 : Number.parseInt(text, 8);
  }
  if (!Number.isSafeInteger(value)) throw new TarError("header with a number above 2^53");
  return value;
}

function untilNul(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0);
  return bytes.slice(0, end === -1 ? bytes.byteLength : end);
}

function joined(prefix: Uint8Array, name: Uint8Array): Uint8Array {
  const whole = new Uint8Array(prefix.byteLength + 1 + name.byteLength);
  whole.set(prefix, 0);
  whole[prefix.byteLength] = 0x2f;
  whole.set(name, prefix.byteLength + 1);
  return whole;
}

function paddingOf(sizeBytes: number): number {
  return (TAR_BLOCK_BYTES - (sizeBytes % TAR_BLOCK_BYTES)) % TAR_BLOCK_BYTES;
}

class EntryContent implements AsyncIterable<Uint8Array> {
  readonly #reader: ByteReader;
  readonly #sizeBytes: number;
  #left: number;
  #isSkipped = false;

  constructor(reader: ByteReader, sizeBytes: number) {
    this.#reader = reader;
    this.#sizeBytes = sizeBytes;
    this.#left = sizeBytes;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    while (this.#left > 0) {
      const chunk = await this.#reader.readSome(this.#left);
      this.#left -= chunk.byteLength;
      yield chunk;
    }
  }

  /** Reads over what nobody took, and over the padding, once. */
  async skip(): Promise<void> {
    if (this.#isSkipped) return;
    this.#isSkipped = true;
    for await (const chunk of this) void chunk;
    await this.#reader.read(paddingOf(this.#sizeBytes));
  }
}
