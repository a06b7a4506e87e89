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
  readonly executable: boolean;
}

export function fillFiles(
  files: readonly HomeFile[],
  filling: Filling,
  hasEffort: boolean,
): FilledFile[] {
  return files.map(({ path, content, withEffort, executable }) => {
    const body =
      typeof content === "string"
        ? fillText(content, filling)
        : `${JSON.stringify(fillJson(content, filling), null, 2)}\n`;
    const text = (hasEffort ? fillText(withEffort, filling) : "") + body;
    return { path, text, executable };
  });
}

/** A tar stream of files and the folders above them, the agent's own: it writes beside them. */
export function packHome(files: readonly FilledFile[], uid: number): ByteStream {
  const folders = new Set<string>();
  for (const { path } of files)
    for (let dir = posix.dirname(path); dir !== "."; dir = posix.dirname(dir)) folders.add(dir);
  const entries = [...folders]
    .toSorted((a, b) => a.length - b.length)
    .map((path): TarSource => ({ header: { ...headerOf(path, uid), kind: "directory" } }));
  return writeTar([...entries, ...files.map((file) => fileEntry(file, uid))]);
}

function fileEntry({ path, text, executable }: FilledFile, uid: number): TarSource {
  const bytes = new TextEncoder().encode(text);
  const { byteLength: sizeBytes } = bytes;
  const header = headerOf(path, uid);
  return {
    header: { ...header, kind: "file", sizeBytes, mode: executable ? header.mode : 0o600 },
    content: [bytes],
  };
}

/** Closed to other users: they hold the trial's token. */
function headerOf(path: string, uid: number): Omit<TarHeader, "kind"> {
  return {
    name: new TextEncoder().encode(path),
    mode: 0o700,
    uid,
    gid: uid,
    sizeBytes: 0,
    mtimeSeconds: 0,
    linkName: new Uint8Array(),
  };
}
