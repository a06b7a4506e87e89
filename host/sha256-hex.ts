import { createHash } from "node:crypto";

/** The sha256 of these bytes, or of a text as UTF-8, in lower-case hex. */
export function sha256Hex(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}
