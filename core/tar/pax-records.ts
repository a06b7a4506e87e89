import { TarError, type TarHeader } from "./tar-entry.ts";

/** Raw values of a pax extended header by key. */
export type PaxRecords = Readonly<Record<string, Uint8Array>>;

/** Parses `{length} {key}={value}\n` records; lengths are checked, values stay bytes. */
export function parsePax(body: Uint8Array): PaxRecords {
  const records: Record<string, Uint8Array> = {};
  let offset = 0;
  while (offset < body.byteLength) {
    const blank = body.indexOf(0x20, offset);
    const digits = latin1(body.subarray(offset, Math.max(offset, blank)));
    const length = /^[1-9][0-9]{0,8}$/u.test(digits) ? Number(digits) : 0;
    const end = offset + length;
    if (length === 0 || end > body.byteLength || body[end - 1] !== 0x0a)
      throw new TarError("extended header with a wrong length");
    const equals = body.indexOf(0x3d, blank);
    if (equals === -1 || equals >= end) throw new TarError("extended header without a value");
    records[latin1(body.subarray(blank + 1, equals))] = body.slice(equals + 1, end - 1);
    offset = end;
  }
  return records;
}

/** The header with what its extension says; sparse files are refused, their content is not the file's. */
export function applyPax(header: TarHeader, records: PaxRecords): TarHeader {
  if (Object.keys(records).some((key) => key.startsWith("GNU.sparse")))
    throw new TarError("sparse files are not unpacked");
  return {
    ...header,
    name: records["path"] ?? header.name,
    linkName: records["linkpath"] ?? header.linkName,
    uid: whole(records, "uid") ?? header.uid,
    gid: whole(records, "gid") ?? header.gid,
    sizeBytes: header.kind === "file" ? (whole(records, "size") ?? header.sizeBytes) : 0,
    mtimeSeconds: decimal(records, "mtime") ?? header.mtimeSeconds,
  };
}

function whole(records: PaxRecords, key: string): number | null {
  const value = decimal(records, key);
  if (value === null) return null;
  if (!Number.isSafeInteger(value) || value < 0)
    throw new TarError(`extended header with ${key} ${String(value)}`);
  return value;
}

function decimal(records: PaxRecords, key: string): number | null {
  const bytes = records[key];
  if (bytes === undefined) return null;
  const text = latin1(bytes);
  if (!/^-?[0-9]{1,20}(\.[0-9]*)?$/u.test(text))
    throw new TarError(`extended header with ${key} ${JSON.stringify(text)}`);
  return Number(text);
}

function latin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}
