import { amountOf } from "../../../core/ledger/amounts.ts";
import { NO_CAPS } from "../../../core/ledger/caps.ts";
import { createLedger } from "../../../core/ledger/create-ledger.ts";
import type { Amount, Caps } from "../../../core/model/ledger-amount.ts";
import { PotHead, PotShard } from "../../../core/model/ledger-pot.ts";
import type { Lease, PotView } from "../../../core/model/ledger-pot.ts";
import type { AdmitRequest, OpenLease } from "../../../core/model/ledger-request.ts";
import type { Deaths, Ledger } from "../../../core/ports/ledger.ts";
import type { LedgerStore } from "../../../core/ports/ledger-store.ts";

export const usd = (microUsd: number): Amount => amountOf({ microUsd });

export const NOBODY_DIES: Deaths = { stateOf: async () => await Promise.resolve("unknown") };

export function ledgerOn(store: LedgerStore, deaths: Deaths = NOBODY_DIES): Ledger {
  return createLedger({ store, pot: "pot", deaths });
}

export async function openedOn(
  store: LedgerStore,
  caps: Partial<Caps>,
  width = 64,
): Promise<Ledger> {
  const ledger = ledgerOn(store);
  await ledger.open({ caps: { ...NO_CAPS, ...caps }, width, breakerThreshold: 5 });
  return ledger;
}

export function admitRequest(attempt: string, over: Partial<AdmitRequest> = {}): AdmitRequest {
  return {
    attempt,
    by: attempt,
    order: 0,
    setting: "s",
    least: amountOf({ rollouts: 1 }),
    trialCaps: NO_CAPS,
    claim: { token: attempt, holder: attempt },
    ...over,
  };
}

export async function admit(
  ledger: Ledger,
  attempt: string,
  over: Partial<AdmitRequest> = {},
): Promise<OpenLease> {
  const admission = await ledger.admit(admitRequest(attempt, over));
  if (admission.kind !== "admitted") throw new Error(`${attempt}: ${admission.kind}`);
  return admission.open;
}

export function aLease(over: Partial<Lease> = {}): Lease {
  const nothing = amountOf({});
  return {
    by: "by",
    claim: "token",
    holder: "holder",
    order: 0,
    setting: "s",
    seq: 0,
    did: "admit",
    earmarked: nothing,
    leased: nothing,
    settled: nothing,
    ...over,
  };
}

export function aShard(over: Partial<PotShard> = {}): PotShard {
  const leases = over.leases ?? {};
  const held = Object.values(leases);
  return PotShard.parse({
    kind: "shard",
    epoch: 0,
    remaining: amountOf({}),
    settled: amountOf({}),
    ended: 0,
    open: held.length,
    waiting: held.filter(({ wants }) => wants !== undefined).length,
    unknown: { usd: 0, tokens: 0 },
    leases,
    samples: {},
    peaks: {},
    ...over,
  });
}

export function aView(shards: readonly PotShard[], caps: Partial<Caps> = {}): PotView {
  const head = PotHead.parse({
    kind: "pot",
    schema_version: 1,
    caps: { ...NO_CAPS, ...caps },
    width: 1,
    version: 0,
    shards: shards.length,
    epoch: 0,
    breaker: { version: 0, threshold: 5, refused: [] },
    anomalies: {},
  });
  return { head, shards: [...shards] };
}
