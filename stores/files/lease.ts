import { randomBytes } from "node:crypto";
import { lstatSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, readdir, rename, rm, rmdir, unlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { BenchError } from "../../core/errors.ts";
import { codeOf } from "../../host/error-code.ts";
import { LeaseEntry, readForeignLock } from "./lease-entry.ts";
import type { Holding, LeaseHolder } from "./lease-entry.ts";
import { readFileBytes } from "./read-file.ts";
import { isMissing, storeError } from "./store-error.ts";
import { temporaryName } from "./temporary-name.ts";

export const LEASE_FOLDER = ".evaluation.lease";
export const LOCK_FILE = ".evaluation.lock";
const MAX_TRIES = 100;
const MAX_LOCK_BYTES = 65_536;

/** Where a lease lies in its folder, and the copy for people beside it, where there is one. */
export interface LeasePlace {
  readonly folder: string;
  readonly lockFile: string | null;
}

const JOB_LEASE: LeasePlace = { folder: LEASE_FOLDER, lockFile: LOCK_FILE };

export interface LeaseOptions {
  /** How long others leave an owner alone that they cannot look up (another machine or container). */
  readonly leaseMs: number;
  /** Of `identifyProcess`. */
  readonly owner: string;
}

/**
 * The right to write a job folder, held by one process at a time (docs/decisions, lease).
 *
 * The truth is the folder `.evaluation.lease` with one file in it, `<token>.<expiry>`. To take it, a
 * folder with the own file is renamed there, which the kernel only allows while nothing or an empty
 * folder is there. A dead owner's file is removed by its name, which fails when it was renewed or
 * taken over since it was looked at. So no two processes can both believe that they won.
 *
 * `.evaluation.lock` beside it is a copy for people and for BenchFlow, whose own lock is honoured.
 */
export class Lease {
  readonly token: string;
  #jobDir: string;
  readonly #place: LeasePlace;
  readonly #options: LeaseOptions;
  readonly #startedAt = new Date().toISOString();
  readonly #lost = new AbortController();
  #entry: LeaseEntry;
  #timer: NodeJS.Timeout | null = null;
  /** The lock file is ours: until then it may be BenchFlow's, which stays. */
  #isShown = false;

  private constructor(jobDir: string, place: LeasePlace, entry: LeaseEntry, options: LeaseOptions) {
    this.token = entry.token;
    this.#jobDir = jobDir;
    this.#place = place;
    this.#entry = entry;
    this.#options = options;
  }

  /** Throws `BenchError` (`usage`) when the owner is alive, or may be and its lease has not ended. */
  static async take(jobDir: string, options: LeaseOptions): Promise<Lease> {
    const taken = await Lease.tryTake(jobDir, options);
    if (taken instanceof Lease) return taken;
    throw taken.refusal(`job ${jobDir} is already running`);
  }

  /** The lease, or who holds it: a process that lives, or that may and whose lease has not ended. */
  static async tryTake(
    dir: string,
    options: LeaseOptions,
    place: LeasePlace = JOB_LEASE,
  ): Promise<Lease | Holding> {
    const token = randomBytes(16).toString("hex");
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const entry = new LeaseEntry(token, Date.now() + options.leaseMs);
      const lease = new Lease(dir, place, entry, options);
      if (await lease.#claim()) return await lease.#begin();
      const holding = await removeEndedHolder(join(dir, place.folder));
      if (holding !== null) return holding;
    }
    throw new BenchError("unavailable", `the lease in ${dir} changes hands all the time`, {
      next: "run the same command again",
    });
  }

  /** Aborted with the reason when a renewal finds the lease in other hands. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Throws when the lease is not ours any more. Called last before anything becomes visible. */
  check(): void {
    if (!this.#lost.signal.aborted && !this.#isHeld()) this.#lose();
    this.#lost.signal.throwIfAborted();
  }

  /**
   * Renames the job folder, which keeps the lease. Throws the operating system's error; `ENOTEMPTY`,
   * `EEXIST` and `ENOTDIR` say that something is there already.
   */
  renameJob(jobDir: string): void {
    // Synchronous, so that no renewal looks for the lease where it is not.
    renameSync(this.#jobDir, jobDir);
    this.#jobDir = jobDir;
  }

  /** Idempotent; leaves what a new owner has put there. */
  async release(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (!this.#isHeld()) return;
    const { lockFile } = this.#place;
    if (this.#isShown && lockFile !== null) await rm(join(this.#jobDir, lockFile), { force: true });
    await unlink(this.#entryPath()).catch(ignoreMissing);
    await rmdir(this.#folder).catch(ignoreTaken);
  }

  async #claim(): Promise<boolean> {
    const temporary = join(this.#jobDir, temporaryName());
    try {
      await mkdir(temporary);
      await writeFile(join(temporary, this.#entry.name), this.#text(), { flag: "wx" });
      await rename(temporary, this.#folder);
      return true;
    } catch (error) {
      await rm(temporary, { recursive: true, force: true });
      // Missing: the owner that put the folder in order took ours for a leftover.
      if (codeOf(error) === "ENOTEMPTY" || codeOf(error) === "EEXIST" || isMissing(error))
        return false;
      throw storeError(error, "lock", this.#jobDir);
    }
  }

  async #begin(): Promise<this> {
    try {
      if (this.#place.lockFile !== null)
        refuseForeignLock(join(this.#jobDir, this.#place.lockFile));
      this.#writeLockFile();
    } catch (error) {
      await this.release();
      throw storeError(error, "lock", this.#jobDir);
    }
    this.#schedule();
    return this;
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#renew();
    }, this.#options.leaseMs / 4);
    // A lease keeps no process alive.
    this.#timer.unref();
  }

  #renew(): void {
    const next = new LeaseEntry(this.token, Date.now() + this.#options.leaseMs);
    try {
      // Synchronous, so that `check` never looks between the renaming and the new name.
      renameSync(this.#entryPath(), join(this.#folder, next.name));
      this.#entry = next;
      this.#writeLockFile();
    } catch (error) {
      if (isMissing(error) && !this.#isHeld()) {
        this.#lose();
        return;
      }
      // A disk that is full or busy now may take the next renewal; the old expiry stands until then.
    }
    this.#schedule();
  }

  #isHeld(): boolean {
    try {
      return lstatSync(this.#entryPath()).isFile();
    } catch (error) {
      if (isMissing(error)) return false;
      throw storeError(error, "look at", this.#entryPath());
    }
  }

  #lose(): void {
    const reason = new BenchError(
      "unavailable",
      `job ${this.#jobDir} was taken over by another process; nothing more is written here`,
      { next: "see which `bench` runs there, then run the same command again" },
    );
    this.#lost.abort(reason);
  }

  get #folder(): string {
    return join(this.#jobDir, this.#place.folder);
  }

  #entryPath(): string {
    return join(this.#folder, this.#entry.name);
  }

  #text(): string {
    const holder: LeaseHolder = {
      pid: process.pid,
      host: hostname(),
      started_at: this.#startedAt,
      owner: this.#options.owner,
      token: this.token,
      expires_at: this.#entry.expiresAt,
    };
    return `${JSON.stringify(holder, null, 2)}\n`;
  }

  #writeLockFile(): void {
    const { lockFile } = this.#place;
    if (lockFile === null) return;
    const temporary = join(this.#jobDir, temporaryName());
    try {
      writeFileSync(temporary, this.#text(), { flag: "wx" });
      renameSync(temporary, join(this.#jobDir, lockFile));
      this.#isShown = true;
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }
}

/** Removes a holder that has ended, by its name; resolves to one that may still work. */
async function removeEndedHolder(folder: string): Promise<Holding | null> {
  const names = await readdir(folder).catch(ignoreMissing);
  for (const name of names ?? []) {
    const path = join(folder, name);
    const text = readSmallText(path);
    if (text === null) continue;
    const entry = LeaseEntry.parse(name);
    if (entry !== null && !entry.hasEnded(text)) return entry.holding(text);
    await unlink(path).catch(ignoreMissing);
  }
  return null;
}

function refuseForeignLock(path: string): void {
  const text = readSmallText(path);
  const refusal = text === null ? null : readForeignLock(text, dirname(path));
  if (refusal !== null) throw refusal;
}

/** What is no small plain file is not a lock that anyone wrote: it reads as an empty one. */
function readSmallText(path: string): string | null {
  const found = readFileBytes(path, MAX_LOCK_BYTES);
  if (found.kind === "missing") return null;
  return found.kind === "read" ? new TextDecoder().decode(found.bytes) : "";
}

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/** Another process may have claimed the folder the moment it was empty. */
function ignoreTaken(error: unknown): undefined {
  const code = codeOf(error);
  if (code !== "ENOTEMPTY" && code !== "EEXIST" && !isMissing(error)) throw error;
}
