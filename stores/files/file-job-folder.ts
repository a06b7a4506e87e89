import { rm } from "node:fs/promises";
import { join } from "node:path";
import { BenchError } from "../../core/errors.ts";
import type { AttemptFolder } from "../../core/ports/attempt-folder.ts";
import type { JobFolder, JobRef, StoredAttempt } from "../../core/ports/job-store.ts";
import { FileAttemptFolder } from "./file-attempt-folder.ts";
import type { Lease } from "./lease.ts";
import { EVALUATION_FILE } from "./list-jobs.ts";
import { removeUnused } from "./make-folders.ts";
import { attemptNames, readAttempts } from "./read-attempts.ts";
import { readFileBytes } from "./read-file.ts";
import { checkName } from "./safe-path.ts";
import { writeAtomic } from "./write-atomic.ts";

const MAX_JOB_FILE_BYTES = 1024 * 1024 * 1024;

/** A job folder on disk, held by a lease. */
export class FileJobFolder implements JobFolder {
  readonly jobsDir: string;
  readonly jobName: string;
  readonly dir: string;
  readonly #lease: Lease;
  /** The folders made for this job, the outermost first; empty for a resumed one. */
  readonly #made: readonly string[];

  constructor(ref: JobRef & { readonly dir: string }, lease: Lease, made: readonly string[]) {
    this.jobsDir = ref.jobsDir;
    this.jobName = ref.jobName;
    this.dir = ref.dir;
    this.#lease = lease;
    this.#made = made;
  }

  get token(): string {
    return this.#lease.token;
  }

  get lost(): AbortSignal {
    return this.#lease.lost;
  }

  async openAttempt(rolloutName: string): Promise<AttemptFolder> {
    return await FileAttemptFolder.make(this.dir, rolloutName, this.#lease);
  }

  attempts(): AsyncIterable<StoredAttempt> {
    return readAttempts(this.dir);
  }

  async write(name: string, bytes: Uint8Array | string): Promise<void> {
    checkName(name);
    await writeAtomic(join(this.dir, name), bytes, {
      syncFolder: true,
      beforeRename: () => {
        this.#lease.check();
      },
    });
  }

  async read(name: string): Promise<Uint8Array | null> {
    checkName(name);
    const path = join(this.dir, name);
    const found = await readFileBytes(path, MAX_JOB_FILE_BYTES);
    if (found.kind === "read") return found.bytes;
    if (found.kind === "missing") return null;
    throw new BenchError("unavailable", `${path} ${found.reason}`, {
      next: `move ${path} away, then run the same command again`,
    });
  }

  async close(): Promise<void> {
    const isUnused = this.#made.length > 0 && (await attemptNames(this.dir)).length === 0;
    if (isUnused && !this.lost.aborted) await rm(join(this.dir, EVALUATION_FILE), { force: true });
    await this.#lease.release();
    if (isUnused) await removeUnused(this.#made);
  }
}
