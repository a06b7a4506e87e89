import type { Anomaly, PotHead, Stop } from "../model/ledger-pot.ts";
import type { ItemUpdate } from "../model/ledger-update.ts";
import { headKey, shardKey } from "./item-keys.ts";
import { MAX_TRIES, crowded, readPot } from "./read-pot.ts";
import type { PotAccess } from "./read-pot.ts";
import { stopOf } from "./sum-pot.ts";
import { absent, equal, remove, set } from "./updates.ts";

/**
 * Stops the pot: every shard hears of it, since a runner asks only its own. One update after the
 * other, not one transaction, which hot shards would turn away again and again; until the last one
 * heard of it, anyone who looks at the whole pot already sees it.
 */
export async function stopPot(access: PotAccess, stop: Stop): Promise<void> {
  const { store, pot } = access;
  const { head, shards } = await readPot(access);
  for (const [shard, { epoch }] of shards.entries())
    await store.write([stopItem(shardKey(pot, shard), epoch, stop)]);
  await store.write([stopItem(headKey(pot), head.epoch, stop)]);
}

/** Keeps what went wrong, and stops the run. */
export async function stopForAnomaly(
  access: PotAccess,
  anomaly: Anomaly,
  seq: number,
): Promise<void> {
  const name = `${anomaly.attempt}#${seq}`;
  await access.store.write([
    {
      key: headKey(access.pot),
      conditions: [absent(["anomalies", name])],
      changes: [set(["anomalies", name], { ...anomaly })],
    },
  ]);
  await stopPot(access, { kind: "anomaly", reason: anomaly.detail });
}

/**
 * The same command again clears the stop that its predecessor ended with (attack 9). Epochs only
 * grow, so that a stop or a clearing that arrives late finds a newer one and changes nothing.
 */
export async function clearStop(access: PotAccess): Promise<void> {
  const { store, pot } = access;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const view = await readPot(access);
    const { head, shards } = view;
    const isUniform = shards.every(({ epoch }) => epoch === head.epoch);
    if (stopOf(view) === null && isUniform) return;
    const epoch = Math.max(head.epoch, ...shards.map((shard) => shard.epoch)) + 1;
    if (!(await store.write([clearHead(pot, head, epoch)]))) continue;
    for (const [shard, { epoch: before }] of shards.entries())
      await store.write([clearItem(shardKey(pot, shard), before, epoch)]);
    // What was not cleared has been stopped anew meanwhile: then all shards have to hear of it.
    return await healStop(access);
  }
  throw crowded(pot, "clear its stop");
}

/** Tells the rest of the pot of a stop whose messenger died on the way. */
export async function healStop(access: PotAccess): Promise<void> {
  const view = await readPot(access);
  const stop = stopOf(view);
  const isKnown = [view.head, ...view.shards].every((item) => item.stop !== undefined);
  if (stop !== null && !isKnown) await stopPot(access, stop);
}

function clearHead(pot: string, { epoch: before, breaker }: PotHead, epoch: number): ItemUpdate {
  const { conditions, ...cleared } = clearItem(headKey(pot), before, epoch);
  return {
    ...cleared,
    conditions: [...conditions, equal(["breaker", "version"], breaker.version)],
    changes: [
      ...cleared.changes,
      set(["breaker"], { ...breaker, version: breaker.version + 1, refused: [] }),
    ],
  };
}

function stopItem(key: string, epoch: number, stop: Stop): ItemUpdate {
  return {
    key,
    conditions: [equal(["epoch"], epoch), absent(["stop"])],
    changes: [set(["stop"], { ...stop })],
  };
}

function clearItem(key: string, before: number, epoch: number): ItemUpdate {
  return {
    key,
    conditions: [equal(["epoch"], before)],
    changes: [remove(["stop"]), set(["epoch"], epoch)],
  };
}
