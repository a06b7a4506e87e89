import type { Amount } from "../model/ledger-amount.ts";
import type { Lease } from "../model/ledger-pot.ts";
import type { ReapReply } from "../model/ledger-request.ts";
import type { ItemUpdate } from "../model/ledger-update.ts";
import { NOTHING, minus, plus } from "./amounts.ts";
import { shardKey } from "./item-keys.ts";
import { endRecord, releaseLease } from "./lease-steps.ts";
import { MAX_TRIES, crowded, readAttempt, readPot } from "./read-pot.ts";
import type { PotAccess } from "./read-pot.ts";
import { absent, equal } from "./updates.ts";

/**
 * See `Ledger.reap`. A lease that no runner claimed needs no proof: the claim is a runner's first
 * write, and whichever of the two comes first, the other finds it.
 */
export async function reapAttempt(access: PotAccess, attempt: string): Promise<ReapReply> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const record = await readAttempt(access, attempt);
    if (record?.state !== "open") return { kind: "gone" };
    const view = await readPot(access);
    const lease = view.shards[record.shard]?.leases[attempt];
    if (lease === undefined) continue;
    if (lease.claim !== undefined) {
      const holder = lease.holder ?? "";
      const state = await access.deaths.stateOf(holder);
      if (state !== "dead") return { kind: "held", holder, state };
    }
    const spent = spentBy(lease);
    if (await access.store.write(reapUpdates(access.pot, attempt, { shard: record.shard, lease })))
      return { kind: "returned", spent };
  }
  throw crowded(access.pot, `return the money of ${attempt}`);
}

/** What an unclaimed lease holds nobody could spend, not even the start. */
function spentBy({ claim, settled, leased }: Lease): Amount {
  return claim === undefined ? NOTHING : plus(settled, leased);
}

/** What was leased may have been spent to the last token, and nobody can tell: it is charged. */
function reapUpdates(
  pot: string,
  attempt: string,
  { shard, lease }: { readonly shard: number; readonly lease: Lease },
): ItemUpdate[] {
  const path = ["leases", attempt];
  const spent = spentBy(lease);
  const giveBack = minus(plus(lease.earmarked, lease.leased, lease.settled), spent);
  const unknown = { usd: lease.leased.microUsd > 0, tokens: lease.leased.tokens > 0 };
  const waits = lease.wants !== undefined;
  const claim =
    lease.claim === undefined ? absent([...path, "claim"]) : equal([...path, "claim"], lease.claim);
  return [
    {
      key: shardKey(pot, shard),
      conditions: [claim, equal([...path, "seq"], lease.seq)],
      changes: releaseLease(attempt, { spent, giveBack, waits, unknown }),
    },
    endRecord(pot, attempt, {
      end: lease.claim === undefined ? "unclaimed" : "reaped",
      closedBy: null,
      spent,
      unknown,
    }),
  ];
}
