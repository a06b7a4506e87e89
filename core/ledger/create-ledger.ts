import { BenchError } from "../errors.ts";
import type { CheckReply, LeaseStep } from "../model/ledger-request.ts";
import type { Deaths, Ledger } from "../ports/ledger.ts";
import type { LedgerStore } from "../ports/ledger-store.ts";
import { UNCAPPED } from "../model/ledger-amount.ts";
import { mapUnits } from "./amounts.ts";
import { admitAttempt, claimAttempt } from "./admit-attempt.ts";
import { noteEnding } from "./note-ending.ts";
import { openPot } from "./open-pot.ts";
import { needHead, readPot, readShard } from "./read-pot.ts";
import type { PotAccess } from "./read-pot.ts";
import { reapAttempt } from "./reap-attempt.ts";
import {
  chargeStep,
  closeStep,
  drawStep,
  giveStep,
  leaveStep,
  turnStep,
  waitStep,
} from "./step-lease.ts";
import { stopPot } from "./stop-pot.ts";

export interface LedgerDeps {
  readonly store: LedgerStore;
  /** Names the pot in the store: letters, digits and `. _ @ -`. */
  readonly pot: string;
  readonly deaths: Deaths;
}

/** The ledger over any store. All that it knows lies in the store: any number may work on one pot. */
export function createLedger(deps: LedgerDeps): Ledger {
  const access: PotAccess = { ...deps, pot: checkPotName(deps.pot) };
  return {
    open: async (request) => await openPot(access, request),
    admit: async (request) => await admitAttempt(access, request),
    claim: async (request) => await claimAttempt(access, request),
    draw: async (request) => await drawStep(access, request),
    give: async (request) => await giveStep(access, request),
    wait: async (request) => await waitStep(access, request),
    turn: async (request) => await turnStep(access, request),
    leave: async (request) => await leaveStep(access, request),
    charge: async (request) => await chargeStep(access, request),
    close: async (request) => await closeStep(access, request),
    check: async (step) => await checkLease(access, step),
    reap: async (attempt) => await reapAttempt(access, attempt),
    stop: async (stop) => await stopPot(access, stop),
    noteEnding: async (ending) => await noteEnding(access, ending),
    view: async () => await readPot(access),
  };
}

/** Looks at two items only, so that a thousand runners may do it every few seconds. */
async function checkLease(
  access: PotAccess,
  { attempt, shard, token }: Pick<LeaseStep, "attempt" | "shard" | "token">,
): Promise<CheckReply> {
  const [head, own] = await Promise.all([needHead(access), readShard(access, shard)]);
  const lease = own.leases[attempt];
  if (lease === undefined) return { kind: "gone" };
  if (lease.claim !== token) return { kind: "taken" };
  const stop = own.stop ?? head.stop;
  if (stop !== undefined) return { kind: "stopped", stop };
  if (lease.ending !== undefined) return { kind: "end", why: lease.ending };
  const remaining = mapUnits((unit) => Math.min(UNCAPPED, head.shards * own.remaining[unit]));
  return { kind: "go-on", sizing: { width: head.width, remaining } };
}

function checkPotName(pot: string): string {
  if (/^[\w.@-]{1,200}$/u.test(pot)) return pot;
  throw new BenchError("usage", `pot name ${pot}: only letters, digits and . _ @ - are allowed`, {
    next: "choose another name for the run",
  });
}
