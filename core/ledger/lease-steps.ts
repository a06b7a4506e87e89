import type { Amount } from "../model/ledger-amount.ts";
import type { Lease } from "../model/ledger-pot.ts";
import type {
  ChargeRequest,
  CloseRequest,
  DrawRequest,
  GiveRequest,
  LeaseStep,
  TurnRequest,
  WaitRequest,
} from "../model/ledger-request.ts";
import type { Change, Condition, ItemUpdate } from "../model/ledger-update.ts";
import { NOTHING, minus, plus, smaller } from "./amounts.ts";
import type { Sources } from "./find-sources.ts";
import { attemptKey, shardKey } from "./item-keys.ts";
import { countPeak } from "./peaks.ts";
import { absent, add, addAmount, atLeast, equal, present, remove, set } from "./updates.ts";

/*
 * Every change of an open lease, as conditional updates of its shard. Each asks that the caller's
 * token holds the lease and that this very step has not happened yet (attack 11), so that a step that
 * is sent twice, or arrives late, finds its conditions broken and changes nothing.
 */

/** Settles what was spent and leases more, from the earmark first; one update, no read before it. */
export function drawFromShard(pot: string, request: DrawRequest): ItemUpdate {
  // Others come first while they wait for what this call would take.
  const more = request.contested ? [equal(["waiting"], 0)] : [];
  return drawUpdate(pot, request, request.fromPot, more);
}

/** The same after the pot was read: money from several shards, others may wait. */
export function drawFromSources(pot: string, request: DrawRequest, sources: Sources): ItemUpdate[] {
  return [drawUpdate(pot, request, sources.own, []), ...takeFromDonors(pot, sources)];
}

function drawUpdate(
  pot: string,
  request: DrawRequest,
  own: Amount,
  more: readonly Condition[],
): ItemUpdate {
  const { settle, fromEarmark, fromPot } = request;
  const lease = leasePath(request);
  return step(pot, request, {
    did: "draw",
    conditions: [
      ...mayTakeMore(request),
      ...more,
      ...atLeast([...lease, "leased"], settle),
      ...atLeast([...lease, "earmarked"], fromEarmark),
      ...atLeast(["remaining"], own),
    ],
    changes: [
      ...addAmount([...lease, "settled"], settle),
      ...addAmount([...lease, "leased"], minus(plus(fromEarmark, fromPot), settle)),
      ...addAmount([...lease, "earmarked"], minus(NOTHING, fromEarmark)),
      ...addAmount(["remaining"], minus(NOTHING, own)),
    ],
  });
}

/** Settles what was spent and returns what is not in use. */
export function giveBack(pot: string, request: GiveRequest): ItemUpdate {
  return step(pot, request, { did: "give", ...giveParts(request) });
}

/** The same, and joins those who wait. */
export function joinWaiters(pot: string, request: WaitRequest): ItemUpdate {
  const wants = [...leasePath(request), "wants"];
  const { conditions, changes } = giveParts(request);
  return step(pot, request, {
    did: "wait",
    conditions: [absent(wants), ...conditions],
    changes: [...changes, set(wants, request.wants), ...add(["waiting"], 1)],
  });
}

function giveParts(request: GiveRequest): Pick<ItemUpdate, "conditions" | "changes"> {
  const { settle, giveEarmark, giveLeased } = request;
  const lease = leasePath(request);
  return {
    conditions: [
      ...atLeast([...lease, "leased"], plus(settle, giveLeased)),
      ...atLeast([...lease, "earmarked"], giveEarmark),
    ],
    changes: [
      ...addAmount([...lease, "settled"], settle),
      ...addAmount([...lease, "leased"], minus(NOTHING, settle, giveLeased)),
      ...addAmount([...lease, "earmarked"], minus(NOTHING, giveEarmark)),
      ...addAmount(["remaining"], plus(giveEarmark, giveLeased)),
    ],
  };
}

/** Serves one that waits. */
export function takeTurn(pot: string, request: TurnRequest, sources: Sources): ItemUpdate[] {
  const lease = leasePath(request);
  const serve = step(pot, request, {
    did: "turn",
    conditions: [
      ...mayTakeMore(request),
      present([...lease, "wants"]),
      ...atLeast(["remaining"], sources.own),
    ],
    changes: [
      ...addAmount([...lease, "leased"], request.take),
      ...addAmount(["remaining"], minus(NOTHING, sources.own)),
      ...stopWaiting(request),
    ],
  });
  return [serve, ...takeFromDonors(pot, sources)];
}

/**
 * Brings what other shards have left to the shard of the first that waits, where nobody younger can
 * take it on the way. `sources.own` is nothing: it lies there already.
 */
export function gatherForFirst(pot: string, request: LeaseStep, sources: Sources): ItemUpdate[] {
  const gathered = plus(...sources.donors.map(({ amount }) => amount));
  const gather = step(pot, request, {
    did: "gather",
    conditions: [present([...leasePath(request), "wants"])],
    changes: addAmount(["remaining"], gathered),
  });
  return [gather, ...takeFromDonors(pot, sources)];
}

export function leaveWaiters(pot: string, request: LeaseStep): ItemUpdate {
  return step(pot, request, {
    did: "leave",
    conditions: [present([...leasePath(request), "wants"])],
    changes: stopWaiting(request),
  });
}

/** Charges more than was leased: the money is spent, so it is taken without asking. */
export function chargeExcess(pot: string, request: ChargeRequest): ItemUpdate {
  const { settle, deficit, anomaly } = request;
  const lease = leasePath(request);
  return step(pot, request, {
    did: "charge",
    conditions: atLeast([...lease, "leased"], minus(settle, smaller(settle, deficit))),
    changes: [
      ...addAmount([...lease, "settled"], settle),
      ...addAmount([...lease, "leased"], minus(deficit, settle)),
      ...addAmount(["remaining"], minus(NOTHING, deficit)),
      set(["stop"], { kind: "anomaly", reason: anomaly.detail }),
    ],
  });
}

/** Ends the attempt: its lease goes, its record stays. */
export function closeLease(pot: string, request: CloseRequest): ItemUpdate[] {
  const { attempt, token, settle, settled, unknown } = request;
  const spent = plus(settled, settle);
  const shard: ItemUpdate = {
    key: shardKey(pot, request.shard),
    conditions: [...ownsNext(request), ...atLeast([...leasePath(request), "leased"], settle)],
    changes: [
      ...releaseLease(attempt, {
        spent,
        giveBack: minus(plus(request.earmarked, request.leased), settle),
        waits: request.waits,
        unknown,
      }),
      ...(request.complete ? countPeak(request.setting, request.peak) : []),
    ],
  };
  return [shard, endRecord(pot, attempt, { end: "closed", closedBy: token, spent, unknown })];
}

interface Release {
  readonly spent: Amount;
  readonly giveBack: Amount;
  readonly waits: boolean;
  readonly unknown: { readonly usd: boolean; readonly tokens: boolean };
}

/** The shard without the lease: what was spent stays spent, the rest remains for others. */
export function releaseLease(attempt: string, release: Release): Change[] {
  return [
    remove(["leases", attempt]),
    ...addAmount(["remaining"], release.giveBack),
    ...addAmount(["settled"], release.spent),
    ...add(["ended"], 1),
    ...add(["open"], -1),
    ...add(["waiting"], release.waits ? -1 : 0),
    ...add(["unknown", "usd"], release.unknown.usd ? 1 : 0),
    ...add(["unknown", "tokens"], release.unknown.tokens ? 1 : 0),
  ];
}

interface AttemptEnd {
  readonly end: "closed" | "reaped" | "unclaimed";
  readonly closedBy: string | null;
  readonly spent: Amount;
  readonly unknown: { readonly usd: boolean; readonly tokens: boolean };
}

export function endRecord(pot: string, attempt: string, ended: AttemptEnd): ItemUpdate {
  const { end, closedBy, spent, unknown } = ended;
  return {
    key: attemptKey(pot, attempt),
    conditions: [equal(["state"], "open")],
    changes: [
      set(["state"], "ended"),
      set(["end"], end),
      ...(closedBy === null ? [] : [set(["closedBy"], closedBy)]),
      set(["spent"], spent),
      set(["unknown"], unknown),
    ],
  };
}

export function takeFromDonors(pot: string, { donors }: Sources): ItemUpdate[] {
  return donors.map(({ shard, amount }) => ({
    key: shardKey(pot, shard),
    conditions: atLeast(["remaining"], amount),
    changes: addAmount(["remaining"], minus(NOTHING, amount)),
  }));
}

interface StepParts extends Pick<ItemUpdate, "conditions" | "changes"> {
  readonly did: Lease["did"];
}

function step(
  pot: string,
  request: LeaseStep,
  { did, conditions, changes }: StepParts,
): ItemUpdate {
  return {
    key: shardKey(pot, request.shard),
    conditions: [...ownsNext(request), ...conditions],
    changes: [
      set([...leasePath(request), "seq"], request.seq),
      set([...leasePath(request), "did"], did),
      ...changes,
    ],
  };
}

function leasePath({ attempt }: { readonly attempt: string }): string[] {
  return ["leases", attempt];
}

function ownsNext(request: LeaseStep): Condition[] {
  const lease = leasePath(request);
  return [equal([...lease, "claim"], request.token), equal([...lease, "seq"], request.seq - 1)];
}

function mayTakeMore(request: LeaseStep): Condition[] {
  return [absent(["stop"]), absent([...leasePath(request), "ending"])];
}

function stopWaiting(request: LeaseStep): Change[] {
  return [remove([...leasePath(request), "wants"]), ...add(["waiting"], -1)];
}
