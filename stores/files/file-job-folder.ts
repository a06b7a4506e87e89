import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { BenchError } from "../../core/errors.ts";
import type { AttemptFolder } from "../../core/ports/attempt-folder.ts";
import type { JobFolder, JobRef, StoredAttempt } from "../../core/ports/job-store.ts";
import { FileAttemptFolder } from "./file-attempt-folder.ts";
import type { Lease } from "./lease.ts";
import { isJobFile } from "./list-jobs.ts";
import { removeUnused } from "./make-folders.ts";
import { listEntries, readAttempts } from "./read-attempts.ts";
import { readFileBytes } from "./read-file.ts";
import { checkName } from "./safe-path.ts";
import { temporaryName } from "./temporary-name.ts";
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
    const found = readFileBytes(path, MAX_JOB_FILE_BYTES);
    if (found.kind === "read") return found.bytes;
    if (found.kind === "missing") return null;
    throw new BenchError("unavailable", `${path} ${found.reason}`, {
      next: `move ${path} away, then run the same command again`,
    });
  }

  async close(): Promise<void> {
    const isUnused = this.#made.length > 0 && !this.lost.aborted && (await holdsNoWork(this.dir));
    if (!isUnused) {
      await this.#lease.release();
      return;
    }
    // Out of sight in one step: a kill from here on leaves nothing that looks like a job.
    const temporary = join(dirname(this.dir), temporaryName());
    this.#lease.renameJob(temporary);
    await this.#lease.release();
    await rm(temporary, { recursive: true, force: true });
    await removeUnused(this.#made.slice(0, -1));
  }
}

/** True while there is nothing but a job's own files: no attempt and nothing of anyone else. */
async function holdsNoWork(dir: string): Promise<boolean> {
  const entries = await listEntries(dir);
  return entries.length > 0 && entries.every(({ name }) => isJobFile(name));
}
