import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { BenchError } from "../../../core/errors.ts";
import { applyUpdates } from "../../../core/ledger/apply-update.ts";
import type { LedgerItem } from "../../../core/model/ledger-update.ts";
import type { LedgerStore } from "../../../core/ports/ledger-store.ts";
import { isMissing, storeError } from "../../files/store-error.ts";
import { type Head, HeadFile } from "./head-file.ts";
import { readLines } from "./journal-lines.ts";
import { journalPath, readSnapshot } from "./snapshot-file.ts";

const MAX_TRIES = 20;

/**
 * A ledger folder as it is now, for a reader that must leave no trace: no lock is taken and nothing is
 * mended, so while others write it is a moment of theirs. Null where there is none. Throws `BenchError`
 * (`unavailable`) for one that is damaged or cannot be read.
 */
export function readFilesLedger(dir: string): LedgerStore | null {
  try {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const found = HeadFile.readIn(dir);
      if (found.kind === "missing") return null;
      const items = found.kind === "read" ? readItems(dir, found.head) : null;
      if (items !== null) return readOnly(items);
    }
  } catch (error) {
    throw storeError(error, "read the ledger in", dir);
  }
  throw new BenchError("unavailable", `the ledger in ${dir} is damaged, or changes all the time`, {
    next: "run the same command again; if nothing writes there, restore the folder from a copy",
  });
}

/** Null when a writer was faster, or acknowledged writes are gone: what was read does not belong together. */
function readItems(dir: string, head: Head): ReadonlyMap<string, LedgerItem> | null {
  const { generation } = head;
  const found = readSnapshot(dir, generation);
  const bytes = readBytes(journalPath(dir, generation));
  if (found === null || bytes === null) return null;
  const { records, rest, goodBytes, chain } = readLines(bytes, found.chain);
  const isOther = goodBytes === head.bytes && chain !== head.chain;
  if (rest === "damaged" || goodBytes < head.bytes || isOther) return null;
  const items = new Map(found.snapshot.items);
  for (const { updates } of records) {
    const changed = applyUpdates((key) => items.get(key) ?? null, updates);
    if (changed === null) return null;
    for (const [key, item] of changed) items.set(key, item);
  }
  return items;
}

function readBytes(path: string): Buffer | null {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      return readFileSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function readOnly(items: ReadonlyMap<string, LedgerItem>): LedgerStore {
  return {
    read: async (keys) => keys.map((key) => items.get(key) ?? null),
    write: async () => {
      throw new BenchError("bug", "a ledger that is only read was to be written", {
        next: "report this with the command that was run",
      });
    },
    close: async () => undefined,
  };
}
