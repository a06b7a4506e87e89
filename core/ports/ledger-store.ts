import type { ItemUpdate, LedgerItem } from "../model/ledger-update.ts";

/**
 * Where a pot's items lie: files, DynamoDB. A store knows nothing of money; what may happen is in the
 * conditions of the updates. It throws `BenchError` (`unavailable`) whenever it cannot tell whether
 * an answer is true: the caller then stops spending.
 */
export interface LedgerStore {
  /** The items as they are now, every write that was answered before included; null for none. */
  read(keys: readonly string[]): Promise<readonly (LedgerItem | null)[]>;
  /**
   * All the updates, one an item, when all their conditions hold; otherwise none of them. Resolves to
   * whether they happened, after they are safe on the medium. One update is one conditional write;
   * several are one transaction.
   */
  write(updates: readonly ItemUpdate[]): Promise<boolean>;
  /** Gives back what the store holds; items stay. */
  close(): Promise<void>;
}
