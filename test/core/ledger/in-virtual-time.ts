import { setMaxListeners } from "node:events";
import { expect } from "vitest";
import { NO_CAPS } from "../../../core/ledger/caps.ts";
import { openTrialAccount } from "../../../core/ledger/trial-account.ts";
import type { TrialAccount } from "../../../core/ledger/trial-account.ts";
import type { Caps } from "../../../core/model/ledger-amount.ts";
import type { AdmitRequest, OpenLease } from "../../../core/model/ledger-request.ts";
import type { Clock } from "../../../core/ports/clock.ts";
import type { Ledger } from "../../../core/ports/ledger.ts";
import type { LedgerStore } from "../../../core/ports/ledger-store.ts";
import { CALM } from "./sweep.ts";
import { VirtualProcess, VirtualWorld } from "./virtual-world.ts";

const HOUR_MS = 3_600_000;
const { signal } = new AbortController();
// Any number of calls may wait with one signal.
setMaxListeners(0, signal);
export const LIMITS = { signal, patienceMs: HOUR_MS };

export function accountOf(
  deps: { ledger: Ledger; clock: Clock },
  open: OpenLease,
  trialCaps: Partial<Caps> = {},
): TrialAccount {
  const { attempt } = open;
  const owner = { open, token: attempt, holder: attempt, trialCaps: { ...NO_CAPS, ...trialCaps } };
  return openTrialAccount(deps, owner);
}

/** Runs in virtual time: what takes an hour of waiting takes none of ours. */
export async function inVirtualTime(
  work: (world: { clock: Clock; store: LedgerStore; at: VirtualWorld["at"] }) => Promise<void>,
): Promise<void> {
  const world = new VirtualWorld(7);
  const { clock, store } = new VirtualProcess(world, "main", CALM);
  let failure: unknown = null;
  let isDone = false;
  work({ clock, store, at: (delayMs, run) => world.at(delayMs, run) }).then(
    () => (isDone = true),
    (error: unknown) => (failure = error),
  );
  await world.run(24 * HOUR_MS);
  if (failure !== null) throw failure as Error;
  expect(isDone).toBe(true);
}

/** An admission that sets so much aside. */
export function earmarking(microUsd: number): Pick<AdmitRequest, "trialCaps"> {
  return { trialCaps: { ...NO_CAPS, microUsd } };
}
