import { parseJson } from "../../core/usage/json-view.ts";
import { decodeUtf8, readFileBytes } from "../files/read-file.ts";

export type TextFile =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "missing" }
  | { readonly kind: "refused"; readonly reason: string };

/** A plain UTF-8 file of at most `maxBytes`, read as `readFileBytes` reads. */
export function readTextFile(path: string, maxBytes: number): TextFile {
  const found = readFileBytes(path, maxBytes);
  if (found.kind !== "read") return found;
  const text = decodeUtf8(found.bytes);
  return text === null ? { kind: "refused", reason: "is not UTF-8" } : { kind: "text", text };
}

/** The JSON value of such a file; undefined when there is none that can be read. */
export function readJsonFile(path: string, maxBytes: number): unknown {
  const found = readTextFile(path, maxBytes);
  return found.kind === "text" ? parseJson(found.text) : undefined;
}
