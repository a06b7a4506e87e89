import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  readdirSync,
  rmSync,
  writeSync,
} from "node:fs";
import { promisify } from "node:util";
import { BenchError } from "../../../core/errors.ts";
import { applyUpdates } from "../../../core/ledger/apply-update.ts";
import type { ItemUpdate, LedgerItem } from "../../../core/model/ledger-update.ts";
import { isMissing } from "../../files/store-error.ts";
import { syncFolder } from "../../files/write-atomic.ts";
import { HeadFile } from "./head-file.ts";
import type { Head } from "./head-file.ts";
import { readLines, writeLine } from "./journal-lines.ts";
import type { JournalReading } from "./journal-lines.ts";
import { journalPath, readSnapshot, snapshotPath, writeGeneration } from "./snapshot-file.ts";

const syncData = promisify(fdatasync);

export interface JournalOptions {
  /** A journal longer than this, and than four snapshots, is replaced by a snapshot. */
  readonly compactBytes: number;
  /** Told when the torn end of a killed writer was dropped. */
  readonly onRepair: (message: string) => void;
}

/**
 * The items of a ledger folder: a snapshot and a journal of all writes since. Every method but
 * `items` is to be called by the holder of the folder's lock only.
 *
 * What a killed writer left behind the acknowledged end: whole lines are kept, as if they had been
 * acknowledged; the beginning of one is dropped, for nobody was told of it. Anything else that is not
 * as it was written is damage, and is refused.
 */
export class Journal {
  readonly #dir: string;
  readonly #options: JournalOptions;
  readonly #head: HeadFile;
  #items = new Map<string, LedgerItem>();
  #file = -1;
  /** What was read or written so far. */
  #at: Head = { generation: -1, n: 0, bytes: 0, chain: "" };
  #snapshotBytes = 0;

  private constructor(dir: string, head: HeadFile, options: JournalOptions) {
    this.#dir = dir;
    this.#head = head;
    this.#options = options;
  }

  static async open(dir: string, options: JournalOptions): Promise<Journal> {
    const head = openHead(dir) ?? (await createFolder(dir));
    const journal = new Journal(dir, head, options);
    try {
      await journal.catchUp();
    } catch (error) {
      journal.close();
      throw error;
    }
    return journal;
  }

  item(key: string): LedgerItem | null {
    return this.#items.get(key) ?? null;
  }

  /** Reads what other processes wrote since. Throws `BenchError` for what no writer leaves. */
  async catchUp(): Promise<void> {
    if (this.#head.isRemoved) throw damaged(this.#dir, "it was removed while it was in use");
    const head = this.#head.read();
    if (head === null) throw damaged(this.#dir, "head is not as it was written");
    if (head.generation !== this.#at.generation) this.#load(head.generation);
    const size = fstatSync(this.#file).size;
    if (size < head.bytes || head.bytes < this.#at.bytes)
      throw damaged(this.#dir, `the journal has ${size} bytes, ${head.bytes} were acknowledged`);
    if (size > this.#at.bytes) await this.#readOn(head, size);
    if (this.#at.bytes === head.bytes && this.#at.chain !== head.chain)
      throw damaged(this.#dir, "the journal is another one than was acknowledged");
  }

  /** All the writes, on the medium when it resolves; or none, and it throws. */
  async append(
    writes: readonly (readonly ItemUpdate[])[],
    items: ReadonlyMap<string, LedgerItem>,
  ): Promise<void> {
    let { n, chain } = this.#at;
    const texts: string[] = [];
    for (const updates of writes) {
      n += 1;
      const line = writeLine(chain, { n, updates });
      texts.push(line.text);
      chain = line.chain;
    }
    const bytes = Buffer.from(texts.join(""));
    try {
      writeAll(this.#file, bytes, this.#at.bytes);
      await syncData(this.#file);
    } catch (error) {
      this.#takeBack();
      throw error;
    }
    this.#at = { ...this.#at, n, chain, bytes: this.#at.bytes + bytes.length };
    for (const [key, item] of items) this.#items.set(key, item);
    this.#head.write(this.#at);
  }

  close(): void {
    if (this.#file >= 0) closeSync(this.#file);
    this.#head.close();
  }

  #load(generation: number): void {
    const found = readSnapshot(this.#dir, generation);
    if (found === null) throw damaged(this.#dir, `snapshot ${generation} is not as it was written`);
    const flags = constants.O_RDWR | constants.O_NOFOLLOW;
    const file = openSync(journalPath(this.#dir, generation), flags);
    if (this.#file >= 0) closeSync(this.#file);
    this.#file = file;
    this.#items = new Map(found.snapshot.items);
    this.#snapshotBytes = found.sizeBytes;
    this.#at = { generation, n: found.snapshot.n, bytes: 0, chain: found.chain };
  }

  async #readOn(head: Head, size: number): Promise<void> {
    const bytes = Buffer.alloc(size - this.#at.bytes);
    readSync(this.#file, bytes, 0, bytes.length, this.#at.bytes);
    const reading = readLines(bytes, this.#at.chain);
    const end = this.#at.bytes + reading.goodBytes;
    if (reading.rest === "damaged" || end < head.bytes)
      throw damaged(this.#dir, `the journal is not as it was written at byte ${end}`);
    this.#replay(reading);
    if (reading.rest === "torn") this.#dropTorn(size, end);
    if (end === head.bytes) return;
    await syncData(this.#file);
    this.#head.write(this.#at);
  }

  #replay({ records, goodBytes, chain }: JournalReading): void {
    let { n } = this.#at;
    for (const record of records) {
      n += 1;
      const changed = applyUpdates((key) => this.item(key), record.updates);
      if (changed === null || record.n !== n)
        throw damaged(this.#dir, `write ${record.n} cannot follow write ${n - 1}`);
      for (const [key, item] of changed) this.#items.set(key, item);
    }
    this.#at = { ...this.#at, n, chain, bytes: this.#at.bytes + goodBytes };
  }

  #dropTorn(size: number, end: number): void {
    ftruncateSync(this.#file, end);
    this.#options.onRepair(
      `the ledger in ${this.#dir} ended in ${size - end} bytes of a write that was never acknowledged; they were dropped`,
    );
  }

  /** Where this fails too, the next reader finds a torn line and drops it. */
  #takeBack(): void {
    try {
      ftruncateSync(this.#file, this.#at.bytes);
    } catch {
      // The error that led here is the one to tell.
    }
  }

  /**
   * Replaces snapshot and journal by a new snapshot. The old ones stay until the head, synced, points
   * at the new ones; a process killed in between leaves files that the next compaction overwrites.
   */
  async compactIfLarge(): Promise<void> {
    const { generation: old, n, bytes } = this.#at;
    if (bytes < Math.max(this.#options.compactBytes, 4 * this.#snapshotBytes)) return;
    const generation = old + 1;
    const items = [...this.#items];
    const chain = writeGeneration(this.#dir, { schema_version: 1, generation, n, items });
    await syncFolder(this.#dir);
    this.#head.write({ generation, n, bytes: 0, chain });
    this.#head.sync();
    this.#load(generation);
    rmSync(journalPath(this.#dir, old), { force: true });
    rmSync(snapshotPath(this.#dir, old), { force: true });
  }
}

function openHead(dir: string): HeadFile | null {
  try {
    return HeadFile.open(dir);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** The first command of a pot. What one that was killed here left is overwritten. */
async function createFolder(dir: string): Promise<HeadFile> {
  const used = readdirSync(dir).filter((name) => /^(?:journal|snapshot)-(?!0$)\d+$/u.test(name));
  if (used.length > 0) throw damaged(dir, `head is missing beside ${used.join(", ")}`);
  if (hasLines(dir)) throw damaged(dir, "head is missing beside a journal");
  const first = { schema_version: 1, generation: 0, n: 0, items: [] } as const;
  const chain = writeGeneration(dir, { ...first, items: [] });
  HeadFile.create(dir, { generation: 0, n: 0, bytes: 0, chain });
  await syncFolder(dir);
  return HeadFile.open(dir);
}

function hasLines(dir: string): boolean {
  try {
    const file = openSync(journalPath(dir, 0), constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      return fstatSync(file).size > 0;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

function writeAll(file: number, bytes: Buffer, position: number): void {
  let written = 0;
  while (written < bytes.length)
    written += writeSync(file, bytes, written, bytes.length - written, position + written);
}

function damaged(dir: string, why: string): BenchError {
  return new BenchError("unavailable", `the ledger in ${dir} is damaged: ${why}`, {
    next: "restore the folder from a copy, or start over with --fresh",
  });
}
