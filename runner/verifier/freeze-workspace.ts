import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import type { AttemptFolder } from "../../core/ports/attempt-folder.ts";
import { type ByteStream, type Sandbox, SandboxError } from "../../core/ports/sandbox.ts";
import { TarError } from "../../core/tar/tar-entry.ts";
import { type TarSource, writeTar } from "../../core/tar/write-tar.ts";
import { escapeBytes, joinNames } from "./stored-name.ts";
import { type TreeEntry, walkTree } from "./walk-tree.ts";
import {
  ARCHIVE_PATH,
  FROZEN_FOLDERS,
  FROZEN_LIMITS,
  type FrozenEntry,
  type FrozenManifest,
  MANIFEST_PATH,
  WORKSPACE_ROOT,
} from "./workspace-archive.ts";

/** Ceilings of entries and of the files' bytes together. */
export interface FrozenLimits {
  readonly maxEntries: number;
  readonly maxBytes: number;
}

export type FreezeResult =
  | { readonly saved: true; readonly entries: number; readonly sizeBytes: number }
  | { readonly saved: false; readonly reason: string };

/**
 * Keeps the agent's final work as it is, before anything of it is hardened away: the workspace,
 * /output, /outputs and /logs/artifacts in `evidence/workspace.tar.gz`, every entry with its hash
 * in `evidence/manifest.json`. Streams, holding one entry's chunk and the manifest. A workspace over
 * the limits is not kept in part: the result says why. No key of ours ever enters a sandbox, so
 * nothing has to be left out.
 */
export async function freezeWorkspace(
  sandbox: Sandbox,
  workdir: string,
  folder: AttemptFolder,
  limits: FrozenLimits = FROZEN_LIMITS,
): Promise<FreezeResult> {
  const frozen = new FrozenTree(sandbox, limits);
  try {
    await folder.writeStream(ARCHIVE_PATH, compress(writeTar(frozen.entries(workdir))));
  } catch (thrown) {
    if (!(thrown instanceof TarError)) throw thrown;
    return { saved: false, reason: thrown.message };
  }
  const manifest: FrozenManifest = { schema_version: 1, workdir, entries: frozen.manifest };
  await folder.write(MANIFEST_PATH, `${JSON.stringify(manifest, null, 1)}\n`);
  return { saved: true, entries: frozen.manifest.length, sizeBytes: frozen.sizeBytes };
}

class FrozenTree {
  readonly manifest: FrozenEntry[] = [];
  sizeBytes = 0;
  readonly #sandbox: Sandbox;
  readonly #limits: FrozenLimits;

  constructor(sandbox: Sandbox, limits: FrozenLimits) {
    this.#sandbox = sandbox;
    this.#limits = limits;
  }

  async *entries(workdir: string): AsyncGenerator<TarSource, void, undefined> {
    yield* this.#folder(WORKSPACE_ROOT, workdir);
    for (const [name, source] of FROZEN_FOLDERS) {
      // A workspace that is one of them is in the archive already.
      if (source === workdir) continue;
      try {
        yield* this.#folder(name, source);
      } catch (thrown) {
        const isAbsent =
          thrown instanceof SandboxError && ["not-found", "unsafe-path"].includes(thrown.failure);
        if (!isAbsent) throw thrown;
      }
    }
  }

  async *#folder(root: string, source: string): AsyncGenerator<TarSource, void, undefined> {
    for await (const entry of walkTree(this.#sandbox.get(source))) {
      // A link in the folder's place leads out of the agent's work.
      if (entry.names.length === 0 && entry.header.kind !== "directory") return;
      this.#count(entry);
      const names = [Buffer.from(root), ...entry.names];
      const name = joinNames(names);
      const linkName =
        entry.header.kind === "hardlink"
          ? joinNames([Buffer.from(root), ...entry.linkNames])
          : entry.header.linkName;
      yield { header: { ...entry.header, name, linkName }, content: this.#record(entry, name) };
    }
  }

  #count({ header }: TreeEntry): void {
    const { maxEntries, maxBytes } = this.#limits;
    this.sizeBytes += header.sizeBytes;
    if (this.manifest.length >= maxEntries)
      throw new TarError(`the workspace has more than ${maxEntries} entries`);
    if (this.sizeBytes > maxBytes)
      throw new TarError(`the workspace has more than ${maxBytes} bytes`);
  }

  async *#record({ header, content }: TreeEntry, name: Uint8Array): ByteStream {
    const hash = createHash("sha256");
    for await (const chunk of content) {
      hash.update(chunk);
      yield chunk;
    }
    const { kind, uid, gid, sizeBytes, linkName } = header;
    this.manifest.push({
      path: escapeBytes(name),
      type: kind,
      mode: header.mode.toString(8).padStart(4, "0"),
      uid,
      gid,
      ...(kind === "file" ? { size: sizeBytes, sha256: hash.digest("hex") } : {}),
      ...(linkName.length > 0 ? { target: escapeBytes(linkName) } : {}),
    });
  }
}

async function* compress(archive: ByteStream): ByteStream {
  const gzip = createGzip({ level: 6 });
  const source = Readable.from(archive, { objectMode: false });
  source.on("error", (error) => gzip.destroy(error));
  source.pipe(gzip);
  for await (const chunk of gzip) yield Buffer.from(chunk);
}
