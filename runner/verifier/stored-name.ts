import { createHash } from "node:crypto";

/** Bytes that a name may have once the store has escaped it for every system. */
const MAX_NAME_BYTES = 255;
/** Characters of a name too long to keep that stay readable. */
const KEPT_CHARACTERS = 64;

/**
 * Bytes as text that gives them back (`nameBytes`): UTF-8 stays as it is; in what is no UTF-8 each
 * byte above 0x7f is written as `=` and two hex digits. An `=` that would read as an escape is
 * escaped too.
 */
export function escapeBytes(bytes: Uint8Array): string {
  const text = utf8OrNull(bytes);
  const literal = (text ?? Buffer.from(bytes).toString("latin1")).replaceAll(
    /[=](?=[0-9A-F]{2}|~)/gu,
    "=3D",
  );
  return text === null ? literal.replaceAll(/[\u0080-\u00ff]/gu, hex) : literal;
}

/**
 * A file name as text that any store can hold (failures C-55): names are bytes, and an agent can
 * make any. What particular systems cannot hold is the store's to escape. A name too long for that
 * is cut and ends in `=~` and part of its hash; only the manifest then knows the whole name.
 */
export function storedName(name: Uint8Array): string {
  const escaped = escapeBytes(name);
  if (storeBytes(escaped) <= MAX_NAME_BYTES) return escaped;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, 16);
  return `${Array.from(escaped).slice(0, KEPT_CHARACTERS).join("")}=~${digest}`;
}

/** The bytes that `escapeBytes` was given. */
export function nameBytes(stored: string): Buffer {
  const parts = stored.split(/=([0-9A-F]{2})/gu);
  return Buffer.concat(
    parts.map((part, index) => Buffer.from(part, index % 2 === 1 ? "hex" : "utf8")),
  );
}

/** The names of a path. Empty parts and `.` are left out; `..` is kept for its reader to refuse. */
export function splitPath(path: Uint8Array): readonly Buffer[] {
  const names: Buffer[] = [];
  let start = 0;
  for (let at = 0; at <= path.length; at += 1) {
    if (at < path.length && path[at] !== 0x2f) continue;
    const name = Buffer.from(path.subarray(start, at));
    if (name.length > 0 && !name.equals(Buffer.from("."))) names.push(name);
    start = at + 1;
  }
  return names;
}

/** The inverse of `splitPath`. */
export function joinNames(names: readonly Uint8Array[]): Buffer {
  return Buffer.concat(names.flatMap((name, depth) => (depth === 0 ? [name] : [SLASH, name])));
}

const SLASH = Buffer.from("/");

/** What the name takes at most once the store escaped what some system cannot hold. */
function storeBytes(name: string): number {
  const unsafe = name.match(/[<>:"|?*\\%]|\p{Cc}/gu)?.length ?? 0;
  return Buffer.byteLength(name) + 2 * unsafe + 4;
}

function utf8OrNull(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // The only complaint is that the bytes are not UTF-8.
    return null;
  }
}

function hex(unit: string): string {
  return `=${unit.charCodeAt(0).toString(16).toUpperCase()}`;
}
