import type { AttemptFolder } from "../../core/ports/attempt-folder.ts";
import { type Sandbox, SandboxError } from "../../core/ports/sandbox.ts";
import { TarError } from "../../core/tar/tar-entry.ts";
import { MAX_REWARD_FILE_BYTES, type RewardFile } from "../../core/outcome/parse-rewards.ts";
import { storedName } from "./stored-name.ts";
import { type TreeEntry, walkTree } from "./walk-tree.ts";

/** What a verifier left in /logs/verifier. */
export interface Verdict {
  readonly text: RewardFile;
  readonly json: RewardFile;
  /** Bytes of ctrf.json; null when there is none that may be read. */
  readonly ctrf: Uint8Array | null;
  readonly warnings: readonly string[];
}

/** Ceilings of what is kept beside the verdict. */
const MAX_FILES = 1000;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_DEPTH = 16;
const MAX_CTRF_BYTES = 4 * 1024 * 1024;
/** Where reading on is given up: a verdict that comes after this is none. */
const MAX_ENTRIES = 100_000;
const MAX_SCANNED_BYTES = 2 * 1024 ** 3;

/** Files that the runner writes itself, from what it saw and not from what lies in the sandbox. */
const RUNNERS_OWN: ReadonlySet<string> = new Set(["test-stdout.txt", "hardening.json"]);

const MISSING: RewardFile = { kind: "missing" };

/**
 * Reads /logs/verifier once the verifier's processes are gone and copies its files below `verifier/`.
 * The folder was made new after the agent's end, so whatever is in it is the verifier's. Only
 * regular files count: a link, pipe or folder in a reward file's place makes that file unsafe and
 * is not followed. Everything is capped, and what was left out is a warning.
 */
export async function readVerdict(sandbox: Sandbox, folder: AttemptFolder): Promise<Verdict> {
  const reader = new VerdictReader(folder);
  try {
    for await (const entry of walkTree(sandbox.get("/logs/verifier")))
      if (!(await reader.take(entry))) break;
  } catch (thrown) {
    // A verifier that removed its own folder left no verdict; one that made devices or a link of it
    // left a folder that cannot be read to its end.
    const failure = thrown instanceof SandboxError ? thrown.failure : null;
    if (failure === "unsafe-path" || thrown instanceof TarError) reader.giveUp();
    else if (failure !== "not-found") throw thrown;
  }
  return reader.verdict();
}

class VerdictReader {
  readonly #folder: AttemptFolder;
  readonly #rewards = new Map<string, RewardFile>();
  #ctrf: Uint8Array | null = null;
  #files = 0;
  #bytes = 0;
  #entries = 0;
  #scannedBytes = 0;
  #dropped = 0;
  #isCut = false;

  constructor(folder: AttemptFolder) {
    this.#folder = folder;
  }

  async take(entry: TreeEntry): Promise<boolean> {
    this.#entries += 1;
    this.#scannedBytes += entry.header.sizeBytes;
    const name = entry.names.length === 1 ? String(entry.names[0]) : "";
    if (name === "reward.txt" || name === "reward.json") await this.#takeReward(name, entry);
    else if (name === "ctrf.json") await this.#takeCtrf(entry);
    else if (entry.header.kind === "file" && !RUNNERS_OWN.has(name)) await this.#keep(entry);
    if (this.#entries >= MAX_ENTRIES || this.#scannedBytes >= MAX_SCANNED_BYTES) this.giveUp();
    return !this.#isCut;
  }

  /** What comes after here was not seen. */
  giveUp(): void {
    this.#isCut = true;
  }

  verdict(): Verdict {
    const left = "files in /logs/verifier were not kept: too many, too large or too deep";
    // What was not seen may be a reward file, so a cut folder has no verdict of its own.
    const unseen: RewardFile = this.#isCut
      ? { kind: "unsafe", reason: "unreadable folder" }
      : MISSING;
    return {
      text: this.#rewards.get("reward.txt") ?? unseen,
      json: this.#rewards.get("reward.json") ?? unseen,
      ctrf: this.#ctrf,
      warnings: [
        ...(this.#dropped > 0 ? [`${this.#dropped} ${left}`] : []),
        ...(this.#isCut ? ["/logs/verifier was not read to its end"] : []),
      ],
    };
  }

  async #takeReward(name: string, entry: TreeEntry): Promise<void> {
    const file = this.#rewards.has(name)
      ? ({ kind: "unsafe", reason: "listed twice" } as const)
      : await readReward(entry);
    this.#rewards.set(name, file);
    if (file.kind === "bytes") await this.#folder.write(`verifier/${name}`, file.bytes);
  }

  async #takeCtrf(entry: TreeEntry): Promise<void> {
    if (entry.header.kind !== "file") return;
    if (entry.header.sizeBytes > MAX_CTRF_BYTES) {
      await this.#keep(entry);
      return;
    }
    this.#ctrf = await readAll(entry);
    await this.#folder.write("verifier/ctrf.json", this.#ctrf);
  }

  async #keep({ header, names, content }: TreeEntry): Promise<void> {
    const path = names.map(storedName).join("/");
    const fits =
      this.#files < MAX_FILES &&
      this.#bytes + header.sizeBytes <= MAX_BYTES &&
      names.length > 0 &&
      names.length <= MAX_DEPTH &&
      path.length <= 1000;
    if (!fits) {
      this.#dropped += 1;
      return;
    }
    this.#files += 1;
    this.#bytes += header.sizeBytes;
    await this.#folder.writeStream(`verifier/${path}`, content);
  }
}

async function readReward(entry: TreeEntry): Promise<RewardFile> {
  const { kind, sizeBytes } = entry.header;
  if (kind === "symlink" || kind === "hardlink") return { kind: "unsafe", reason: "link" };
  if (kind !== "file") return { kind: "unsafe", reason: "not a regular file" };
  if (sizeBytes > MAX_REWARD_FILE_BYTES) return { kind: "unsafe", reason: "too large" };
  return { kind: "bytes", bytes: await readAll(entry) };
}

async function readAll({ content }: TreeEntry): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}
