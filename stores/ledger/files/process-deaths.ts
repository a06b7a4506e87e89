import type { Deaths } from "../../../core/ports/ledger.ts";
import { processState } from "../../../host/process-identity.ts";

/** For leases whose holder is a process of this machine, named by `identifyProcess`. */
export const processDeaths: Deaths = {
  stateOf: async (holder) => await Promise.resolve(processState(holder)),
};
