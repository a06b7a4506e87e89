import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import type { ItemUpdate } from "../../../core/model/ledger-update.ts";
import type { LedgerStore } from "../../../core/ports/ledger-store.ts";
import { openFilesLedger } from "../../../stores/ledger/files/files-ledger-store.ts";
import type { FilesLedgerOptions } from "../../../stores/ledger/files/files-ledger-store.ts";

/** An empty place for a ledger in each test, and the handles that the test opened on it. */
export interface LedgerFolder {
  /** The ledger's folder; a test may point it elsewhere. */
  ledger: string;
  /** What the stores told of repairs. */
  readonly notices: string[];
  readonly stores: LedgerStore[];
  open(over?: Partial<FilesLedgerOptions>): Promise<LedgerStore>;
}

export function useLedgerFolder(): LedgerFolder {
  const folder: LedgerFolder = {
    ledger: "",
    notices: [],
    stores: [],
    open: async (over = {}) => {
      const store = await openFilesLedger({
        dir: folder.ledger,
        lockWaitMs: 300,
        onNotice: (message) => folder.notices.push(message),
        ...over,
      });
      folder.stores.push(store);
      return store;
    },
  };
  let dir = "";
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "bench-ledger-"));
    folder.ledger = join(dir, "ledger");
    folder.notices.length = 0;
  });
  afterEach(async () => {
    for (const store of folder.stores.splice(0)) await store.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return folder;
}

/** Adds one to the only item. */
export const countOne: ItemUpdate = {
  key: "item",
  conditions: [],
  changes: [{ path: ["count"], do: "add", by: 1 }],
};

export async function counted(store: LedgerStore): Promise<unknown> {
  return (await store.read(["item"]))[0]?.["count"] ?? 0;
}

/** A ledger with so many writes, that nobody has open. */
export async function writeLedger({ ledger }: LedgerFolder, writes: number): Promise<void> {
  const store = await openFilesLedger({ dir: ledger });
  for (let write = 0; write < writes; write += 1) await store.write([countOne]);
  await store.close();
}
