import type { Deaths } from "../../../core/ports/ledger.ts";
import type { LedgerStore } from "../../../core/ports/ledger-store.ts";

/**
 * One promise of a ledger on its store, as data: the same list is run by the tests on every adapter
 * and on the fake. `check` throws when the promise is broken.
 */
export interface LedgerPromise {
  /** A sentence in the present tense. */
  readonly promise: string;
  readonly check: (fixture: LedgerFixture) => Promise<void>;
}

/** Something that can hold a lease and die: a process, a task. */
export interface Holder {
  /** As a lease names it. */
  readonly holder: string;
  /** Resolves when it is gone, and known to be. */
  readonly kill: () => Promise<void>;
}

/** What a check gets. Each check has a medium, or names in it, that no other check has touched. */
export interface LedgerFixture {
  /** One more handle on the same medium, as another process would open it. */
  readonly openStore: () => Promise<LedgerStore>;
  /** Names the check's own pot, and starts the keys of its own items. */
  readonly pot: string;
  readonly deaths: Deaths;
  readonly startHolder: () => Promise<Holder>;
  /** A holder of which nobody here can tell whether it lives. */
  readonly foreignHolder: string;
}
