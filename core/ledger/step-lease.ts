import { BenchError } from "../errors.ts";
import type { Lease, PotView, Stop } from "../model/ledger-pot.ts";
import type {
  ChargeRequest,
  CloseRequest,
  DrawReply,
  DrawRequest,
  GiveRequest,
  LeaseStep,
  StepReply,
  TurnReply,
  TurnRequest,
  WaitRequest,
} from "../model/ledger-request.ts";
import type { ItemUpdate } from "../model/ledger-update.ts";
import { decideTurn } from "./decide-turn.ts";
import { keepWaiting } from "./keep-waiting.ts";
import {
  chargeExcess,
  closeLease,
  drawFromShard,
  drawFromSources,
  giveBack,
  joinWaiters,
  leaveWaiters,
  takeTurn,
} from "./lease-steps.ts";
import { MAX_TRIES, crowded, readAttempt, readPot } from "./read-pot.ts";
import type { PotAccess } from "./read-pot.ts";
import { stopForAnomaly } from "./stop-pot.ts";
import { stopOf } from "./sum-pot.ts";

/** See `Ledger.draw`. In the common case one conditional update; the pot is read when that failed. */
export async function drawStep(access: PotAccess, request: DrawRequest): Promise<DrawReply> {
  if (await access.store.write([drawFromShard(access.pot, request)])) return GRANTED;
  const question = { ...request, take: request.fromPot };
  return await retryStep<DrawReply>(access, request, {
    repeated: grantedAs("draw", request),
    busy: { kind: "short" },
    take: async (view, lease) => {
      const blocked = blockOf(view, lease);
      if (blocked !== null) return blocked;
      const decision = decideTurn(view, question);
      if (decision.kind === "refused") return decision;
      if (decision.kind === "wait") return { kind: "short" };
      return await tryWrite(access, drawFromSources(access.pot, request, decision.sources));
    },
  });
}

/** See `Ledger.turn`. */
export async function turnStep(access: PotAccess, request: TurnRequest): Promise<TurnReply> {
  return await retryStep<TurnReply>(access, request, {
    repeated: (lease) =>
      lease.seq === request.seq && lease.did === "turn" ? GRANTED : repeatedGather(lease, request),
    busy: { kind: "waiting", position: 0, progress: "" },
    take: async (view, lease) => {
      const blocked = blockOf(view, lease);
      if (blocked !== null) return blocked;
      const decision = decideTurn(view, request);
      switch (decision.kind) {
        case "refused":
          return decision;
        case "serve":
          return await tryWrite(access, takeTurn(access.pot, request, decision.sources));
        case "wait":
          return await keepWaiting(access, view, { request, position: decision.position });
      }
    },
  });
}

/** See `Ledger.give`. */
export async function giveStep(access: PotAccess, request: GiveRequest): Promise<StepReply> {
  return await plainStep(access, request, "give", giveBack(access.pot, request));
}

/** See `Ledger.wait`. */
export async function waitStep(access: PotAccess, request: WaitRequest): Promise<StepReply> {
  return await plainStep(access, request, "wait", joinWaiters(access.pot, request));
}

/** See `Ledger.leave`. */
export async function leaveStep(access: PotAccess, request: LeaseStep): Promise<StepReply> {
  return await plainStep(access, request, "leave", leaveWaiters(access.pot, request));
}

/** See `Ledger.charge`. */
export async function chargeStep(access: PotAccess, request: ChargeRequest): Promise<StepReply> {
  const reply = await plainStep(access, request, "charge", chargeExcess(access.pot, request));
  if (reply.kind === "granted") await stopForAnomaly(access, request.anomaly, request.seq);
  return reply;
}

/** See `Ledger.close`. */
export async function closeStep(access: PotAccess, request: CloseRequest): Promise<StepReply> {
  const updates = closeLease(access.pot, request);
  if (await access.store.write(updates)) return GRANTED;
  const reply = await retryStep<StepReply>(access, request, {
    // The lease is still there, so what this number did was no closing.
    repeated: () => null,
    take: async () => await tryWrite(access, updates),
  });
  if (reply.kind !== "gone") return reply;
  const record = await readAttempt(access, request.attempt);
  return record?.closedBy === request.token ? GRANTED : reply;
}

/** A step that needs no decision: it happens, or has happened, or the lease is not the caller's. */
async function plainStep(
  access: PotAccess,
  request: LeaseStep,
  did: Lease["did"],
  update: ItemUpdate,
): Promise<StepReply> {
  if (await access.store.write([update])) return GRANTED;
  return await retryStep<StepReply>(access, request, {
    repeated: grantedAs(did, request),
    take: async () => await tryWrite(access, [update]),
  });
}

const GRANTED = { kind: "granted" } as const;

interface RetryableStep<Reply> {
  /** The answer to a step that has happened already; null when that number did something else. */
  readonly repeated: (lease: Lease) => Reply | null;
  /** Null when others changed what it was decided on. */
  readonly take: (view: PotView, lease: Lease) => Promise<Reply | null>;
  /** The answer when others were faster every time; without one that is an error. */
  readonly busy?: Reply;
}

/** Takes a step on the pot as it is now, once more whenever others changed it meanwhile. */
async function retryStep<Reply>(
  access: PotAccess,
  request: LeaseStep,
  { repeated, take, busy }: RetryableStep<Reply>,
): Promise<Reply | { readonly kind: "gone" | "taken" }> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const view = await readPot(access);
    const lease = view.shards[request.shard]?.leases[request.attempt];
    if (lease === undefined) return { kind: "gone" };
    if (lease.claim !== request.token) return { kind: "taken" };
    const isDue = lease.seq === request.seq - 1;
    const reply = isDue ? await take(view, lease) : answerRepeat(lease, request, repeated);
    if (reply !== null) return reply;
  }
  if (busy !== undefined) return busy;
  throw crowded(access.pot, `take step ${request.seq} of ${request.attempt}`);
}

function answerRepeat<Reply>(
  lease: Lease,
  { attempt, seq }: LeaseStep,
  repeated: (lease: Lease) => Reply | null,
): Reply {
  const reply = lease.seq >= seq ? repeated(lease) : null;
  if (reply !== null) return reply;
  throw new BenchError(
    "bug",
    `ledger step ${seq} of ${attempt} is out of step: its lease is at ${lease.seq} (${lease.did})`,
    { next: "report this with the command that was run" },
  );
}

/** When other steps have followed the asked one, it has happened too: numbers are used in turn. */
function grantedAs(did: Lease["did"], { seq }: LeaseStep): (lease: Lease) => typeof GRANTED | null {
  return (lease) => (lease.seq > seq || lease.did === did ? GRANTED : null);
}

/** A turn that arrives late may have gathered or been served; this answer lets nobody spend. */
function repeatedGather(lease: Lease, { seq }: LeaseStep): { kind: "gathered" } | null {
  return lease.seq > seq || lease.did === "gather" ? { kind: "gathered" } : null;
}

function blockOf(
  view: PotView,
  lease: Lease,
): { kind: "stopped"; stop: Stop } | { kind: "refused"; unit: null } | null {
  const stop = stopOf(view);
  if (stop !== null) return { kind: "stopped", stop };
  return lease.ending === undefined ? null : { kind: "refused", unit: null };
}

async function tryWrite(
  { store }: PotAccess,
  updates: readonly ItemUpdate[],
): Promise<typeof GRANTED | null> {
  return (await store.write(updates)) ? GRANTED : null;
}
