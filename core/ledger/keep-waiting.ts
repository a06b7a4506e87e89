import type { Amount } from "../model/ledger-amount.ts";
import type { PotView } from "../model/ledger-pot.ts";
import type { TurnReply, TurnRequest } from "../model/ledger-request.ts";
import type { ItemUpdate } from "../model/ledger-update.ts";
import { NOTHING, beyond, isNothing, mapUnits } from "./amounts.ts";
import { STALL_LIMIT_MS, youngestTrial } from "./decide-turn.ts";
import type { LeaseEntry } from "./sum-pot.ts";
import type { Sources } from "./find-sources.ts";
import { shardKey } from "./item-keys.ts";
import { gatherForFirst } from "./lease-steps.ts";
import type { PotAccess } from "./read-pot.ts";
import { progressOf } from "./sum-pot.ts";
import { absent, equal, set } from "./updates.ts";

interface WaitingTurn {
  readonly request: TurnRequest;
  readonly position: number;
}

/**
 * What happens while a trial's turn has not come. When nothing moved for a minute, the youngest trial
 * is told to end, whoever notices first (attack 12). The first in line gathers what there is. Null
 * when the pot has to be looked at again.
 */
export async function keepWaiting(
  access: PotAccess,
  view: PotView,
  { request, position }: WaitingTurn,
): Promise<TurnReply | null> {
  const progress = progressOf(view);
  if (isStalled(request, progress)) {
    const youngest = youngestTrial(view);
    if (youngest !== null) {
      await access.store.write([tellToEnd(access.pot, youngest)]);
      return null;
    }
  }
  const sources = position === 0 ? findGatherable(view, request) : null;
  if (sources === null) return { kind: "waiting", position, progress };
  const gathered = await access.store.write(gatherForFirst(access.pot, request, sources));
  return gathered ? { kind: "gathered" } : null;
}

function isStalled({ stalled }: TurnRequest, progress: string): boolean {
  return stalled.progress === progress && stalled.ms >= STALL_LIMIT_MS;
}

function tellToEnd(pot: string, { attempt, shard, lease }: LeaseEntry): ItemUpdate {
  const path = ["leases", attempt];
  return {
    key: shardKey(pot, shard),
    // Told late, it may move again: then it goes on.
    conditions: [equal([...path, "seq"], lease.seq), absent([...path, "ending"])],
    changes: [set([...path, "ending"], "nothing moved in the pot for 60 s")],
  };
}

/** What other shards have of the units that this trial lacks. */
function findGatherable(view: PotView, { shard, take }: TurnRequest): Sources | null {
  const missing = beyond(take, view.shards[shard]?.remaining ?? NOTHING);
  const donors = view.shards
    .map(({ remaining }, from) => ({ shard: from, amount: partOf(remaining, missing) }))
    .filter((donor) => donor.shard !== shard && !isNothing(donor.amount));
  return donors.length === 0 ? null : { shard, own: NOTHING, donors };
}

function partOf(remaining: Amount, missing: Amount): Amount {
  return mapUnits((unit) => Math.max(0, Math.min(remaining[unit], missing[unit])));
}
