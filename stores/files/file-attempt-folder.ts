import { createHash } from "node:crypto";
import { join } from "node:path";
import { BenchError } from "../../core/errors.ts";
import type { AppendFile, AttemptFolder } from "../../core/ports/attempt-folder.ts";
import type { ByteStream } from "../../core/ports/sandbox.ts";
import { FileAppend } from "./file-append.ts";
import type { Lease } from "./lease.ts";
import { checkFolder, makeFolder, makeFolders } from "./make-folders.ts";
import { streamFile } from "./read-file.ts";
import { checkName, safeSegments } from "./safe-path.ts";
import { foldersOf, readSeal, RESULT_FILE, SEAL_FILE, sealOf, sealText } from "./seal-folder.ts";
import { syncFolder, writeAtomic } from "./write-atomic.ts";
import type { WrittenFile } from "./write-atomic.ts";

/** Made up front in every attempt (spec 1.1). */
const FIRST_FOLDERS = ["agent", "verifier", "artifacts", "trajectory"];

/** An attempt's folder on disk. Every path is checked and no link below the job is followed. */
export class FileAttemptFolder implements AttemptFolder {
  readonly rolloutName: string;
  readonly #jobDir: string;
  readonly #dir: string;
  readonly #lease: Lease;
  readonly #written = new Map<string, WrittenFile>();
  readonly #open = new Set<FileAppend>();
  #isSealed = false;

  private constructor(jobDir: string, rolloutName: string, lease: Lease) {
    this.rolloutName = rolloutName;
    this.#jobDir = jobDir;
    this.#dir = join(jobDir, rolloutName);
    this.#lease = lease;
  }

  /** Throws `BenchError` when the folder exists: nothing is ever overwritten. */
  static async make(jobDir: string, rolloutName: string, lease: Lease): Promise<FileAttemptFolder> {
    checkName(rolloutName);
    lease.check();
    const folder = new FileAttemptFolder(jobDir, rolloutName, lease);
    if (!(await makeFolder(folder.#dir))) {
      throw new BenchError("bug", `attempt ${folder.#dir} exists already`, {
        next: "run the same command again: the attempt gets another name",
      });
    }
    for (const name of FIRST_FOLDERS) await makeFolder(join(folder.#dir, name));
    return folder;
  }

  async write(path: string, bytes: Uint8Array | string): Promise<void> {
    await this.#put(path, bytes);
  }

  async writeStream(path: string, bytes: ByteStream): Promise<void> {
    await this.#put(path, bytes);
  }

  async append(path: string): Promise<AppendFile> {
    const { absolute, relative } = await this.#place(path);
    const file = await FileAppend.open(absolute, (written) => {
      this.#open.delete(file);
      // What is recorded here is only believed while the file has that size.
      if (written !== null) this.#written.set(relative, written);
    });
    this.#open.add(file);
    return file;
  }

  async mkdir(path: string): Promise<void> {
    this.#checkOpen(path);
    await makeFolders(this.#dir, safeSegments(path));
  }

  async *readFrom(rolloutName: string, path: string): ByteStream {
    checkName(rolloutName);
    const folders = [rolloutName, ...safeSegments(path)];
    const file = folders.pop() ?? "";
    let folder = this.#jobDir;
    for (const name of folders) {
      folder = join(folder, name);
      await checkFolder(folder);
    }
    const sealed = sealedIn(join(this.#jobDir, rolloutName), safeSegments(path).join("/"));
    const hash = createHash("sha256");
    for await (const chunk of streamFile(join(folder, file))) {
      hash.update(chunk);
      yield chunk;
    }
    if (sealed !== null && sealed !== hash.digest("hex")) throw contradicted(rolloutName, path);
  }

  async seal(result: Uint8Array | string): Promise<void> {
    this.#checkOpen(RESULT_FILE);
    for (const file of this.#open) await file.close();
    await this.#put(RESULT_FILE, result);
    await Promise.all((await foldersOf(this.#dir)).map(syncFolder));
    const seal = await sealOf(this.#dir, { known: this.#written, recovered: false });
    await this.#put(SEAL_FILE, sealText(seal));
    this.#isSealed = true;
    await Promise.all([syncFolder(this.#dir), syncFolder(this.#jobDir)]);
  }

  async #put(path: string, bytes: Uint8Array | string | ByteStream): Promise<void> {
    const { absolute, relative } = await this.#place(path);
    const written = await writeAtomic(absolute, bytes, {
      syncFolder: false,
      beforeRename: () => {
        this.#lease.check();
      },
    });
    this.#written.set(relative, written);
  }

  async #place(path: string): Promise<{ readonly absolute: string; readonly relative: string }> {
    this.#checkOpen(path);
    const segments = safeSegments(path);
    const folder = await makeFolders(this.#dir, segments.slice(0, -1));
    return { absolute: join(folder, segments.at(-1) ?? ""), relative: segments.join("/") };
  }

  #checkOpen(path: string): void {
    if (!this.#isSealed) return;
    throw new BenchError("bug", `attempt ${this.#dir} is sealed: ${path} cannot be written`, {
      next: "report this with the command that you ran",
    });
  }
}

/** What the attempt's seal says of the file: its sha256, nothing that a file could have, or no seal. */
function sealedIn(attemptDir: string, path: string): string | null {
  const found = readSeal(attemptDir);
  if (found.kind === "absent") return null;
  const files = found.kind === "sealed" ? found.seal.files : [];
  return files.find((file) => file.path === path)?.sha256 ?? "not sealed";
}

/** Work that is not what was saved is nobody's draw: a score of it would look like the agent's. */
function contradicted(rolloutName: string, path: string): BenchError {
  return new BenchError(
    "config",
    `${path} of ${rolloutName} is not what its seal.json says it was`,
    {
      next: "put the saved file back, or run the trial again with --fresh",
    },
  );
}
