import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { BenchError } from "../../../core/errors.ts";
import { applyUpdates } from "../../../core/ledger/apply-update.ts";
import type { ItemUpdate, LedgerItem } from "../../../core/model/ledger-update.ts";
import type { LedgerStore } from "../../../core/ports/ledger-store.ts";
import { storeError } from "../../files/store-error.ts";
import { syncFolder } from "../../files/write-atomic.ts";
import { FolderLock } from "./folder-lock.ts";
import { Journal } from "./journal.ts";

export interface FilesLedgerOptions {
  /** The ledger's own folder, absolute; made when it is not there. */
  readonly dir: string;
  /** How long another process that holds the lock is waited for. Default 30 s. */
  readonly lockWaitMs?: number;
  /** Journal length that leads to a snapshot. Default 4 MiB. */
  readonly compactBytes?: number;
  /** Told what was repaired or could not be tidied; one line each. */
  readonly onNotice?: (message: string) => void;
}

const LOCK_WAIT_MS = 30_000;
const COMPACT_BYTES = 4 * 1024 * 1024;

/**
 * A ledger in a folder of this machine, for any number of processes. Writes that are asked for at the
 * same time share one lock and one sync of the disk. Throws `BenchError` (`unavailable`) when the
 * folder cannot be made, read or written, or is damaged.
 */
export async function openFilesLedger(options: FilesLedgerOptions): Promise<LedgerStore> {
  const { dir } = options;
  try {
    if (mkdirSync(dir, { recursive: true, mode: 0o700 }) !== undefined)
      await syncFolder(dirname(dir));
    return await openLocked(FolderLock.open(dir, options.lockWaitMs ?? LOCK_WAIT_MS), options);
  } catch (error) {
    throw storeError(error, "open the ledger in", dir);
  }
}

async function openLocked(lock: FolderLock, options: FilesLedgerOptions): Promise<LedgerStore> {
  try {
    return await FilesLedgerStore.open(lock, options);
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** One request that waits for its turn; `serve` gives the way to answer it once all is written. */
interface Waiting {
  readonly serve: (batch: Batch) => () => void;
  readonly reject: (error: unknown) => void;
}

class FilesLedgerStore implements LedgerStore {
  readonly #dir: string;
  readonly #lock: FolderLock;
  readonly #journal: Journal;
  readonly #onNotice: (message: string) => void;
  readonly #waiting: Waiting[] = [];
  #pump: Promise<void> | null = null;
  #isClosed = false;
  /** After a write that may or may not have reached the disk, nothing that is read is certain. */
  #broken: BenchError | null = null;

  private constructor(lock: FolderLock, journal: Journal, options: FilesLedgerOptions) {
    this.#dir = options.dir;
    this.#lock = lock;
    this.#journal = journal;
    this.#onNotice = options.onNotice ?? (() => undefined);
  }

  static async open(lock: FolderLock, options: FilesLedgerOptions): Promise<FilesLedgerStore> {
    await lock.take();
    try {
      const journal = await Journal.open(options.dir, {
        compactBytes: options.compactBytes ?? COMPACT_BYTES,
        onRepair: options.onNotice ?? (() => undefined),
      });
      return new FilesLedgerStore(lock, journal, options);
    } finally {
      lock.release();
    }
  }

  async read(keys: readonly string[]): Promise<readonly (LedgerItem | null)[]> {
    return await this.#ask((batch) => keys.map((key) => batch.item(key)));
  }

  async write(updates: readonly ItemUpdate[]): Promise<boolean> {
    return await this.#ask((batch) => batch.write(updates));
  }

  async close(): Promise<void> {
    await this.#pump;
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#broken ??= closed(this.#dir);
    this.#journal.close();
    try {
      this.#lock.close();
    } catch (error) {
      throw storeError(error, "close the ledger in", this.#dir);
    }
  }

  async #ask<Answer>(question: (batch: Batch) => Answer): Promise<Answer> {
    return await new Promise<Answer>((resolve, reject) => {
      this.#waiting.push({
        reject,
        serve: (batch) => {
          const answer = question(batch);
          return () => {
            resolve(answer);
          };
        },
      });
      this.#pump ??= this.#serveAll();
    });
  }

  async #serveAll(): Promise<void> {
    // One turn of the event loop, so that what is asked for together is written together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const round = this.#waiting.splice(0);
      try {
        for (const answer of await this.#serveRound(round)) answer();
      } catch (error) {
        const told = storeError(error, "use the ledger in", this.#dir);
        for (const { reject } of round) reject(told);
      }
    }
    this.#pump = null;
  }

  async #serveRound(round: readonly Waiting[]): Promise<readonly (() => void)[]> {
    if (this.#broken !== null) throw this.#broken;
    await this.#lock.take();
    try {
      await this.#journal.catchUp();
      const batch = new Batch(this.#journal);
      const answers = round.flatMap((waiting) => serveOne(waiting, batch));
      if (batch.writes.length > 0) await this.#append(batch);
      return answers;
    } finally {
      this.#lock.release();
    }
  }

  async #append(batch: Batch): Promise<void> {
    try {
      await this.#journal.append(batch.writes, batch.items);
    } catch (error) {
      this.#broken = storeError(error, "write the ledger in", this.#dir);
      throw this.#broken;
    }
    try {
      await this.#journal.compactIfLarge();
    } catch (error) {
      // What was asked for is written; the next write tries again.
      this.#onNotice(storeError(error, "shorten the ledger in", this.#dir).message);
    }
  }
}

/** A malformed request is refused alone; the others of its round go on. */
function serveOne({ serve, reject }: Waiting, batch: Batch): (() => void)[] {
  try {
    return [serve(batch)];
  } catch (error) {
    reject(error);
    return [];
  }
}

/** Writes of one round, seen by those that come after them. */
class Batch {
  readonly #journal: Journal;
  readonly items = new Map<string, LedgerItem>();
  readonly writes: (readonly ItemUpdate[])[] = [];

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  item(key: string): LedgerItem | null {
    return this.items.get(key) ?? this.#journal.item(key);
  }

  write(updates: readonly ItemUpdate[]): boolean {
    const changed = applyUpdates((key) => this.item(key), updates);
    if (changed === null) return false;
    for (const [key, item] of changed) this.items.set(key, item);
    this.writes.push(updates);
    return true;
  }
}

function closed(dir: string): BenchError {
  return new BenchError("bug", `the ledger in ${dir} was closed and is used again`, {
    next: "report this with the command that was run",
  });
}
