import { messageOf } from "../../core/errors.ts";
import type { AttemptFolder } from "../../core/ports/attempt-folder.ts";
import { type Sandbox, SandboxError } from "../../core/ports/sandbox.ts";
import { TarError } from "../../core/tar/tar-entry.ts";
import {
  type CollectedFolder,
  type CollectLimits,
  type ListedEntry,
  MAX_LISTED,
} from "./log-manifest.ts";
import { escapeBytes, storedName } from "./stored-name.ts";
import { type TreeEntry, walkTree } from "./walk-tree.ts";

export interface FolderRequest {
  /** The folder in the sandbox. */
  readonly source: string;
  /** Where its files go in the attempt's folder. */
  readonly target: string;
  /** Files of the target that are the runner's own; the sandbox's of that name gets another one. */
  readonly taken: ReadonlySet<string>;
  readonly limits: CollectLimits;
  readonly signal: AbortSignal;
}

/** Entries and bytes beyond the limits that are still counted before the rest is given up. */
const COUNTED_ENTRIES = 200_000;
const COUNTED_BYTES = 4 * 1024 ** 3;
/** A path longer than this is not stored: no tool could open it. */
const MAX_PATH_CHARACTERS = 1000;

/**
 * Takes the regular files of a folder that an agent filled, in the order in which they come, up to
 * the limits; counts the rest; lists links and pipes without making them (failures C-55). Resolves
 * to null when the folder is not there. Throws only when the sandbox or the store does.
 */
export async function collectFolder(
  sandbox: Sandbox,
  folder: AttemptFolder,
  request: FolderRequest,
): Promise<CollectedFolder | null> {
  const collection = new FolderCollection(folder, request);
  try {
    for await (const entry of walkTree(sandbox.get(request.source))) {
      request.signal.throwIfAborted();
      if (!(await collection.take(entry))) break;
    }
  } catch (thrown) {
    if (thrown instanceof SandboxError && thrown.failure === "not-found") return null;
    // A link in the folder's place, or an entry no archive of ours holds: its files are not ours to find.
    const isForeign = thrown instanceof SandboxError && thrown.failure === "unsafe-path";
    if (!isForeign && !(thrown instanceof TarError)) throw thrown;
    collection.giveUp(messageOf(thrown));
  }
  return collection.result();
}

class FolderCollection {
  readonly #folder: AttemptFolder;
  readonly #request: FolderRequest;
  readonly #listed: ListedEntry[] = [];
  readonly #renamed: { path: string; stored: string }[] = [];
  #stored = { files: 0, bytes: 0 };
  #dropped = { files: 0, bytes: 0 };
  #unlisted = 0;
  #entries = 0;
  #incomplete: string | null = null;

  constructor(folder: AttemptFolder, request: FolderRequest) {
    this.#folder = folder;
    this.#request = request;
  }

  /** Whether there is any sense in reading on. */
  async take(entry: TreeEntry): Promise<boolean> {
    this.#entries += 1;
    const { kind } = entry.header;
    if (kind === "file") await this.#takeFile(entry);
    else if (kind !== "directory") this.#list(entry, kind);
    if (this.#entries < COUNTED_ENTRIES && this.#dropped.bytes < COUNTED_BYTES) return true;
    this.giveUp("there is more than was counted");
    return false;
  }

  giveUp(reason: string): void {
    this.#incomplete = reason;
  }

  result(): CollectedFolder {
    return {
      source: this.#request.source,
      stored_files: this.#stored.files,
      stored_bytes: this.#stored.bytes,
      dropped_files: this.#dropped.files,
      dropped_bytes: this.#dropped.bytes,
      incomplete: this.#incomplete,
      listed: this.#listed,
      unlisted: this.#unlisted,
      renamed: this.#renamed,
    };
  }

  async #takeFile({ header, names, content }: TreeEntry): Promise<void> {
    const { maxFiles, maxBytes } = this.#request.limits;
    const path = names.map(storedName).join("/");
    const fits =
      this.#stored.files < maxFiles &&
      this.#stored.bytes + header.sizeBytes <= maxBytes &&
      path !== "" &&
      path.length <= MAX_PATH_CHARACTERS;
    const counter = fits ? this.#stored : this.#dropped;
    counter.files += 1;
    counter.bytes += header.sizeBytes;
    if (!fits) return;
    const stored = this.#request.taken.has(path) ? `${path}=~sandbox` : path;
    const original = pathOf(names);
    if (stored !== original && this.#renamed.length < MAX_LISTED)
      this.#renamed.push({ path: original, stored });
    await this.#folder.writeStream(`${this.#request.target}/${stored}`, content);
  }

  #list({ header, names }: TreeEntry, kind: ListedEntry["kind"]): void {
    if (this.#listed.length < MAX_LISTED)
      this.#listed.push({ path: pathOf(names), kind, target: escapeBytes(header.linkName) });
    else this.#unlisted += 1;
  }
}

function pathOf(names: readonly Buffer[]): string {
  return names.map(escapeBytes).join("/");
}
