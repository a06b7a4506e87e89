import { posix } from "node:path";
import type { HomeFile } from "../../core/model/agent-definition.ts";
import type { ByteStream } from "../../core/ports/sandbox.ts";
import type { TarHeader } from "../../core/tar/tar-entry.ts";
import { type TarSource, writeTar } from "../../core/tar/write-tar.ts";
import { fillJson, fillText, type Filling } from "./fill-definition.ts";

/** A file of an agent's home, filled in. */
export interface FilledFile {
  readonly path: string;
  readonly text: string;
}

export function fillFiles(
  files: readonly HomeFile[],
  filling: Filling,
  hasEffort: boolean,
): FilledFile[] {
  return files.map(({ path, content, withEffort }) => {
    const body =
      typeof content === "string"
        ? fillText(content, filling)
        : `${JSON.stringify(fillJson(content, filling), null, 2)}\n`;
    return { path, text: (hasEffort ? fillText(withEffort, filling) : "") + body };
  });
}

/** A tar stream of files and the folders above them, the agent's own: it writes beside them. */
export function packHome(files: readonly FilledFile[], uid: number): ByteStream {
  const folders = new Set<string>();
  for (const { path } of files)
    for (let dir = posix.dirname(path); dir !== "."; dir = posix.dirname(dir)) folders.add(dir);
  const entries = [...folders]
    .toSorted((a, b) => a.length - b.length)
    .map((path): TarSource => ({ header: headerOf(path, uid, "directory", 0) }));
  return writeTar([...entries, ...files.map(({ path, text }) => fileEntry(path, text, uid))]);
}

function fileEntry(path: string, text: string, uid: number): TarSource {
  const bytes = new TextEncoder().encode(text);
  return { header: headerOf(path, uid, "file", bytes.byteLength), content: [bytes] };
}

function headerOf(
  path: string,
  uid: number,
  kind: "file" | "directory",
  sizeBytes: number,
): TarHeader {
  return {
    kind,
    name: new TextEncoder().encode(path),
    // They hold the trial's token.
    mode: kind === "file" ? 0o600 : 0o700,
    uid,
    gid: uid,
    sizeBytes,
    mtimeSeconds: 0,
    linkName: new Uint8Array(),
  };
}
