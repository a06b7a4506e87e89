import { deathPromises } from "./death-promises.ts";
import { leasePromises } from "./lease-promises.ts";
import type { LedgerPromise } from "./ledger-promise.ts";
import { potPromises } from "./pot-promises.ts";
import { storePromises } from "./store-promises.ts";

/** Every promise of a ledger and its store, in the order in which a reader wants to see them fail. */
export const ledgerContract: readonly LedgerPromise[] = [
  ...storePromises,
  ...potPromises,
  ...leasePromises,
  ...deathPromises,
];
