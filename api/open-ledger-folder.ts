import type { OnEvent } from "../core/events/run-event.ts";
import { createLedger } from "../core/ledger/create-ledger.ts";
import type { Ledger } from "../core/ports/ledger.ts";
import { openFilesLedger } from "../stores/ledger/files/files-ledger-store.ts";
import { readFilesLedger } from "../stores/ledger/files/read-files-ledger.ts";
import { processDeaths } from "../stores/ledger/files/process-deaths.ts";
import type { OpenLedger } from "./run-deps.ts";

/** The pot of that name, to be looked at: nothing is made, mended or locked. Null without a ledger. */
export async function readLedgerFolder(
  dir: string,
  pot: string,
): Promise<Pick<Ledger, "view"> | null> {
  const store = readFilesLedger(dir);
  return store === null ? null : createLedger({ store, pot, deaths: processDeaths });
}

/** The pot of that name in a folder of this machine. What the store mends is told as a warning. */
export async function openLedgerFolder(
  dir: string,
  pot: string,
  onEvent: OnEvent,
): Promise<OpenLedger> {
  const onNotice = (message: string): void => onEvent({ type: "warning", message });
  const store = await openFilesLedger({ dir, onNotice });
  const ledger = createLedger({ store, pot, deaths: processDeaths });
  return { ledger, close: async () => await store.close() };
}
