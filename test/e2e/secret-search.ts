import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** A secret as it could be spelled: whole where an encoding keeps it whole, else what lies inside. */
export function spellings(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const aligned = [0, 1, 2].flatMap((shift) => {
    const padded = Buffer.concat([Buffer.alloc(shift, "x"), bytes, Buffer.alloc(2, "x")]);
    // Without the characters that hold bits of what lies around it.
    return (["base64", "base64url"] as const).map((form) =>
      padded.toString(form).slice(4, 4 + Math.floor(((bytes.length - 4) * 4) / 3) - 2),
    );
  });
  return [
    secret,
    encodeURIComponent(secret),
    secret.replaceAll("/", "\\/"),
    secret.split("").toReversed().join(""),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    ...aligned,
  ];
}

/** Files below a folder, at any depth. */
export function filesBelow(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** A file's bytes as text, unpacked where it is packed. */
export function contentOf(path: string): string {
  const bytes = readFileSync(path);
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return (isPacked ? gunzipSync(bytes) : bytes).toString("latin1");
}
