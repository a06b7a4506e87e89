import { applyUpdates } from "../../core/ledger/apply-update.ts";
import type { ItemUpdate, LedgerItem } from "../../core/model/ledger-update.ts";
import type { LedgerStore } from "../../core/ports/ledger-store.ts";

/** A ledger store in memory. Any number of handles may share one `items`, as processes share a table. */
export class MemoryLedgerStore implements LedgerStore {
  readonly items: Map<string, LedgerItem>;
  /** Every write that was asked for, done or not. */
  readonly written: (readonly ItemUpdate[])[] = [];

  constructor(items: Map<string, LedgerItem> = new Map()) {
    this.items = items;
  }

  async read(keys: readonly string[]): Promise<readonly (LedgerItem | null)[]> {
    await Promise.resolve();
    return keys.map((key) => this.items.get(key) ?? null);
  }

  async write(updates: readonly ItemUpdate[]): Promise<boolean> {
    await Promise.resolve();
    return this.apply(updates);
  }

  /** The write itself, at one moment. */
  apply(updates: readonly ItemUpdate[]): boolean {
    this.written.push(updates);
    const changed = applyUpdates((key) => this.items.get(key) ?? null, updates);
    if (changed === null) return false;
    for (const [key, item] of changed) this.items.set(key, item);
    return true;
  }

  async close(): Promise<void> {
    await Promise.resolve();
  }
}
