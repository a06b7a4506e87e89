import type { TarSource } from "./write-tar.ts";

/** A file of our own making in an archive: owned by root, dated 1970, so that equal bytes stay equal. */
export function inlineEntry(
  name: string,
  content: Uint8Array | string,
  mode: number = 0o644,
): TarSource {
  const encoder = new TextEncoder();
  const bytes = typeof content === "string" ? encoder.encode(content) : content;
  return {
    header: {
      kind: "file",
      name: encoder.encode(name),
      mode,
      uid: 0,
      gid: 0,
      sizeBytes: bytes.byteLength,
      mtimeSeconds: 0,
      linkName: new Uint8Array(),
    },
    content: [bytes],
  };
}
