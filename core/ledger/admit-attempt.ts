import type { Amount } from "../model/ledger-amount.ts";
import type { Lease, PotView } from "../model/ledger-pot.ts";
import type {
  Admission,
  AdmitRequest,
  ClaimReply,
  ClaimRequest,
  OpenLease,
} from "../model/ledger-request.ts";
import type { ItemUpdate } from "../model/ledger-update.ts";
import { NOTHING, minus } from "./amounts.ts";
import { cappedUnits } from "./caps.ts";
import { decideAdmission } from "./decide-admission.ts";
import type { Sources } from "./find-sources.ts";
import { attemptKey, shardKey } from "./item-keys.ts";
import { takeFromDonors } from "./lease-steps.ts";
import { MAX_TRIES, readAttempt, readPot } from "./read-pot.ts";
import type { PotAccess } from "./read-pot.ts";
import { healStop } from "./stop-pot.ts";
import { stopOf, sumPot } from "./sum-pot.ts";
import {
  absent,
  add,
  addAmount,
  atLeast,
  equal,
  jsonOf,
  present,
  set,
  setFields,
} from "./updates.ts";

/** See `Ledger.admit`. */
export async function admitAttempt(access: PotAccess, request: AdmitRequest): Promise<Admission> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const earlier = await findAdmission(access, request);
    if (earlier !== null) return earlier;
    const view = await readPot(access);
    const decision = decideAdmission(view, request);
    if (decision.kind === "stopped") await healStop(access);
    if (decision.kind !== "admit") return decision;
    const { earmark, started, sources } = decision;
    const lease = newLease(request, earmark, started);
    if (!(await access.store.write(admission(access.pot, request, { lease, sources })))) continue;
    const entry = { attempt: request.attempt, shard: sources.shard, lease };
    return { kind: "admitted", open: { ...entry, ...knownOf(view) } };
  }
  return { kind: "wait", why: "short" };
}

/** The same admission again, after an answer that was lost; or somebody else's. */
async function findAdmission(
  access: PotAccess,
  { attempt, by }: AdmitRequest,
): Promise<Admission | null> {
  const record = await readAttempt(access, attempt);
  if (record === null) return null;
  if (record.by !== by) return { kind: "taken" };
  const open = await findLease(access, attempt, record.shard);
  return open === null ? { kind: "gone" } : { kind: "admitted", open };
}

/** See `Ledger.claim`. */
export async function claimAttempt(access: PotAccess, request: ClaimRequest): Promise<ClaimReply> {
  const { attempt, token, holder } = request;
  const record = await readAttempt(access, attempt);
  if (record?.state !== "open") return { kind: "gone" };
  const lease = ["leases", attempt];
  await access.store.write([
    {
      key: shardKey(access.pot, record.shard),
      conditions: [present(lease), absent([...lease, "claim"]), absent(["stop"])],
      changes: [set([...lease, "claim"], token), set([...lease, "holder"], holder)],
    },
  ]);
  const open = await findLease(access, attempt, record.shard);
  if (open === null) return { kind: "gone" };
  if (open.lease.claim === token) return { kind: "claimed", open };
  const stop = stopOf(await readPot(access));
  return open.lease.claim === undefined && stop !== null
    ? { kind: "stopped", stop }
    : { kind: "taken" };
}

async function findLease(
  access: PotAccess,
  attempt: string,
  shard: number,
): Promise<OpenLease | null> {
  const view = await readPot(access);
  const lease = view.shards[shard]?.leases[attempt];
  return lease === undefined ? null : { attempt, shard, lease, ...knownOf(view) };
}

function knownOf(view: PotView): Pick<OpenLease, "capped" | "sizing"> {
  const { caps, width } = view.head;
  return { capped: cappedUnits(caps), sizing: { width, remaining: sumPot(view).remaining } };
}

function newLease(request: AdmitRequest, earmarked: Amount, started: Amount): Lease {
  const { by, claim, order, setting } = request;
  return {
    by,
    ...(claim === null ? {} : { claim: claim.token, holder: claim.holder }),
    order,
    setting,
    seq: 0,
    did: "admit",
    earmarked,
    leased: started,
    settled: NOTHING,
  };
}

/**
 * The attempt's record and its lease, together or not at all: the record makes an admission that
 * arrives again, even after the attempt has ended, change nothing.
 */
function admission(
  pot: string,
  { attempt, by }: AdmitRequest,
  { lease, sources }: { readonly lease: Lease; readonly sources: Sources },
): ItemUpdate[] {
  const record = { kind: "attempt", state: "open", shard: sources.shard, by };
  return [
    {
      key: attemptKey(pot, attempt),
      conditions: [absent(["kind"])],
      changes: setFields(record),
    },
    {
      key: shardKey(pot, sources.shard),
      conditions: [absent(["stop"]), equal(["waiting"], 0), ...atLeast(["remaining"], sources.own)],
      changes: [
        set(["leases", attempt], jsonOf(lease)),
        ...add(["open"], 1),
        ...addAmount(["remaining"], minus(NOTHING, sources.own)),
      ],
    },
    ...takeFromDonors(pot, sources),
  ];
}
