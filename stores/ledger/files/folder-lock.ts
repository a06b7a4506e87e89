import { randomBytes } from "node:crypto";
import {
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { BenchError } from "../../../core/errors.ts";
import { identifyProcess, processState } from "../../../host/process-identity.ts";
import { codeOf } from "../../../host/error-code.ts";
import { isMissing, storeError } from "../../files/store-error.ts";

const LOCK = "lock";
const OWNER = "owner-";
const TAKING = "taking-";

/**
 * The right to write a folder, held by one process for milliseconds at a time.
 *
 * The truth is the folder `lock` with one file in it, named by its holder's token. To take it, a
 * folder with the own file is renamed there, which the kernel only allows while nothing or an empty
 * folder is there. A dead holder's file is removed by its name, which no other process ever bears; so
 * two that find the same dead holder cannot both believe that they took its place.
 */
export class FolderLock {
  readonly #dir: string;
  readonly #waitMs: number;
  readonly #token = randomBytes(12).toString("hex");
  #isPrepared = false;

  private constructor(dir: string, waitMs: number) {
    this.#dir = dir;
    this.#waitMs = waitMs;
  }

  /** `waitMs`: how long a holder that lives, or may live, is waited for. */
  static open(dir: string, waitMs: number): FolderLock {
    const lock = new FolderLock(dir, waitMs);
    sweepDead(dir);
    const holder = { process: identifyProcess(), token: lock.#token };
    writeFileSync(lock.#ownFile, JSON.stringify(holder), { flag: "wx", mode: 0o600 });
    return lock;
  }

  /** Throws `BenchError` (`unavailable`) when the holder does not end in time. */
  async take(): Promise<void> {
    const untilMs = performance.now() + this.#waitMs;
    for (;;) {
      if (this.#tryTake()) return;
      const holder = readHolder(this.#dir);
      if (holder !== null && processState(holder.process) === "dead")
        removeHolder(this.#dir, holder);
      else if (performance.now() > untilMs) throw lockedBy(this.#dir, holder);
      else await delay(1 + 4 * Math.random());
    }
  }

  /** Throws when the lock was no longer ours: then nothing that was done under it is certain. */
  release(): void {
    unlinkSync(join(this.#dir, LOCK, this.#token));
  }

  close(): void {
    rmSync(this.#ownFile, { force: true });
    rmSync(this.#takingDir, { recursive: true, force: true });
  }

  #tryTake(): boolean {
    if (!this.#isPrepared) {
      mkdirSync(this.#takingDir, { mode: 0o700 });
      linkSync(this.#ownFile, join(this.#takingDir, this.#token));
      this.#isPrepared = true;
    }
    try {
      renameSync(this.#takingDir, join(this.#dir, LOCK));
      this.#isPrepared = false;
      return true;
    } catch (error) {
      if (codeOf(error) === "ENOTEMPTY" || codeOf(error) === "EEXIST") return false;
      throw error;
    }
  }

  get #ownFile(): string {
    return join(this.#dir, `${OWNER}${this.#token}`);
  }

  get #takingDir(): string {
    return join(this.#dir, `${TAKING}${this.#token}`);
  }
}

interface Holder {
  readonly token: string;
  readonly process: string;
}

/** Null when nobody holds it any more. */
function readHolder(dir: string): Holder | null {
  const lock = join(dir, LOCK);
  try {
    const [token] = readdirSync(lock);
    return token === undefined ? null : { token, process: readProcess(join(lock, token)) };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function removeHolder(dir: string, { token }: Holder): void {
  try {
    unlinkSync(join(dir, LOCK, token));
  } catch (error) {
    // Another process was faster.
    if (!isMissing(error)) throw error;
  }
}

/** What a process that was killed left beside the lock; those that live or may live keep theirs. */
function sweepDead(dir: string): void {
  const names = readdirSync(dir).filter((name) => name.startsWith(OWNER));
  for (const name of names) {
    if (processState(readProcess(join(dir, name))) !== "dead") continue;
    rmSync(join(dir, `${TAKING}${name.slice(OWNER.length)}`), { recursive: true, force: true });
    rmSync(join(dir, name), { force: true });
  }
}

/** A text that names no process, where the file is half written or gone: its state is unknown. */
function readProcess(path: string): string {
  try {
    const holder: unknown = JSON.parse(readFileSync(path, "utf8"));
    const isHolder = typeof holder === "object" && holder !== null && "process" in holder;
    return isHolder && typeof holder.process === "string" ? holder.process : "";
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return "";
    throw storeError(error, "read", path);
  }
}

function lockedBy(dir: string, holder: Holder | null): BenchError {
  const who = holder === null ? "processes that take turns" : `process ${holder.process}`;
  return new BenchError("unavailable", `the ledger in ${dir} is locked by ${who}`, {
    next:
      holder === null
        ? "run the same command again"
        : `end that process; if it is gone for certain, rm ${join(dir, LOCK, holder.token)}`,
  });
}
