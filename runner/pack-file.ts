import type { ByteStream } from "../core/ports/sandbox.ts";
import { writeTar } from "../core/tar/write-tar.ts";

/** A tar stream of one file that the runner makes itself, owned by root. */
export function packFile(name: string, content: Uint8Array | string, mode: number): ByteStream {
  const bytes = Buffer.from(content);
  return writeTar([
    {
      header: {
        kind: "file",
        name: Buffer.from(name),
        mode,
        uid: 0,
        gid: 0,
        sizeBytes: bytes.length,
        mtimeSeconds: 0,
        linkName: new Uint8Array(),
      },
      content: [bytes],
    },
  ]);
}
