import type { OnEvent } from "../core/events/run-event.ts";
import { createLedger } from "../core/ledger/create-ledger.ts";
import { openFilesLedger } from "../stores/ledger/files/files-ledger-store.ts";
import { processDeaths } from "../stores/ledger/files/process-deaths.ts";
import type { OpenLedger } from "./run-deps.ts";

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
