import { readFileBytes } from "../files/read-file.ts";

export type SmallFile =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "missing" }
  | { readonly kind: "refused"; readonly reason: string };

/** A text file of at most `maxBytes`: no link is followed, and a pipe is not waited for. */
export async function readSmallFile(path: string, maxBytes: number): Promise<SmallFile> {
  const found = await readFileBytes(path, maxBytes);
  if (found.kind !== "read") return found;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(found.bytes);
    return { kind: "text", text };
  } catch {
    return { kind: "refused", reason: "is not UTF-8" };
  }
}

/** The JSON value of a small file; undefined when there is none that can be read. */
export async function readSmallJson(path: string, maxBytes: number): Promise<unknown> {
  const found = await readSmallFile(path, maxBytes);
  if (found.kind !== "text") return undefined;
  try {
    return JSON.parse(found.text);
  } catch {
    // The callers read side files for details that may be missing as well.
    return undefined;
  }
}
