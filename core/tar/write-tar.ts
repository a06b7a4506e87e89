import { TAR_BLOCK_BYTES, TarError, type TarHeader, type TarKind } from "./tar-entry.ts";

/** An entry to be written: its header and, for a file, exactly `sizeBytes` of content. */
export interface TarSource {
  readonly header: TarHeader;
  readonly content?: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

const TYPE_FLAGS: Readonly<Record<TarKind, string>> = {
  file: "0",
  hardlink: "1",
  symlink: "2",
  directory: "5",
  fifo: "6",
};

const MAX_OCTAL_ID = 0o7777777;
const MAX_OCTAL_SIZE = 0o77777777777;
const encoder = new TextEncoder();

/**
 * A tar archive (POSIX ustar; pax records where a name, a link or a number does not fit) as it is
 * pulled. Content longer or shorter than its header says is an error: what follows would be misread.
 */
export async function* writeTar(
  entries: AsyncIterable<TarSource> | Iterable<TarSource>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { header, content } of entries) {
    yield encodeHeader(header);
    let written = 0;
    for await (const chunk of content ?? []) {
      written += chunk.byteLength;
      if (written > header.sizeBytes) break;
      yield chunk;
    }
    if (written !== header.sizeBytes)
      throw new TarError(
        `content of ${shown(header.name)} is ${written > header.sizeBytes ? "longer" : "shorter"} than the ${String(header.sizeBytes)} bytes announced`,
      );
    yield new Uint8Array(paddingOf(written));
  }
  yield new Uint8Array(2 * TAR_BLOCK_BYTES);
}

/** Header blocks of one entry: a pax extension first where ustar's fields are too small. */
export function encodeHeader(header: TarHeader): Uint8Array {
  const name = withSlash(header);
  const records: Uint8Array[] = [];
  if (name.byteLength > 100) records.push(paxRecord("path", name));
  if (header.linkName.byteLength > 100) records.push(paxRecord("linkpath", header.linkName));
  if (header.uid > MAX_OCTAL_ID) records.push(paxRecord("uid", String(header.uid)));
  if (header.gid > MAX_OCTAL_ID) records.push(paxRecord("gid", String(header.gid)));
  if (header.sizeBytes > MAX_OCTAL_SIZE) records.push(paxRecord("size", String(header.sizeBytes)));
  const block = ustarBlock({ ...header, name }, TYPE_FLAGS[header.kind]);
  if (records.length === 0) return block;
  const body = concat(records);
  const extension = ustarBlock(
    { ...header, name: encoder.encode("pax"), linkName: new Uint8Array(), sizeBytes: body.length },
    "x",
  );
  return concat([extension, body, new Uint8Array(paddingOf(body.length)), block]);
}

function ustarBlock(header: TarHeader, typeFlag: string): Uint8Array {
  const block = new Uint8Array(TAR_BLOCK_BYTES);
  block.set(header.name.subarray(0, 100), 0);
  block.set(octal(header.mode & 0o7777, 7), 100);
  block.set(octal(Math.min(header.uid, MAX_OCTAL_ID), 7), 108);
  block.set(octal(Math.min(header.gid, MAX_OCTAL_ID), 7), 116);
  block.set(octal(Math.min(header.sizeBytes, MAX_OCTAL_SIZE), 11), 124);
  const mtime = Math.min(Math.max(0, Math.floor(header.mtimeSeconds)), MAX_OCTAL_SIZE);
  block.set(octal(mtime, 11), 136);
  block.set(encoder.encode(typeFlag), 156);
  block.set(header.linkName.subarray(0, 100), 157);
  block.set(encoder.encode("ustar\u000000"), 257);
  // The checksum counts its own field as blanks (POSIX pax, "ustar Interchange Format").
  block.fill(0x20, 148, 156);
  let sum = 0;
  for (const byte of block) sum += byte;
  block.set(octal(sum, 6), 148);
  block.set([0, 0x20], 154);
  return block;
}

/** A pax record: its own length in decimal, a blank, `key=value`, a newline. Values are raw bytes. */
function paxRecord(key: string, value: Uint8Array | string): Uint8Array {
  const bytes = typeof value === "string" ? encoder.encode(value) : value;
  const rest = key.length + bytes.byteLength + 3;
  let total = rest + String(rest).length;
  if (String(total).length !== String(rest).length) total += 1;
  return concat([encoder.encode(`${String(total)} ${key}=`), bytes, encoder.encode("\n")]);
}

function withSlash(header: TarHeader): Uint8Array {
  const isSlashed = header.name.at(-1) === 0x2f;
  return header.kind === "directory" && !isSlashed
    ? concat([header.name, encoder.encode("/")])
    : header.name;
}

function octal(value: number, digits: number): Uint8Array {
  return encoder.encode(value.toString(8).padStart(digits, "0"));
}

function paddingOf(sizeBytes: number): number {
  return (TAR_BLOCK_BYTES - (sizeBytes % TAR_BLOCK_BYTES)) % TAR_BLOCK_BYTES;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.byteLength;
  }
  return whole;
}

function shown(name: Uint8Array): string {
  return JSON.stringify(new TextDecoder().decode(name));
}
