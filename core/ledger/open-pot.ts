import { BenchError } from "../errors.ts";
import type { Amount } from "../model/ledger-amount.ts";
import type { PotHead, PotShard, PotView } from "../model/ledger-pot.ts";
import { OpenRequest } from "../model/ledger-request.ts";
import type { ItemUpdate } from "../model/ledger-update.ts";
import { NOTHING, mapUnits } from "./amounts.ts";
import { balanceOf } from "./caps.ts";
import { changeCaps } from "./change-caps.ts";
import { headKey, shardKey } from "./item-keys.ts";
import { MAX_TRIES, crowded, readHead, readPot } from "./read-pot.ts";
import type { PotAccess } from "./read-pot.ts";
import { clearStop } from "./stop-pot.ts";
import { absent, addAmount, atLeast, equal, set, setFields } from "./updates.ts";

/** Leases that one shard is meant to bear: its item stays small and its writes few (attack 11). */
export const LEASES_PER_SHARD = 32;

/** A pot is opened and its caps changed in one transaction, which DynamoDB limits to 100 items. */
const MAX_SHARDS = 64;

/** See `Ledger.open`. */
export async function openPot(access: PotAccess, request: OpenRequest): Promise<PotView> {
  checkRequest(request);
  if ((await readHead(access)) === null) await createPot(access, request);
  await growPot(access, shardCount(request.width));
  await changeCaps(access, request);
  await clearStop(access);
  return await readPot(access);
}

function checkRequest(request: OpenRequest): void {
  const parsed = OpenRequest.safeParse(request);
  if (parsed.success) return;
  const [issue] = parsed.error.issues;
  throw new BenchError("usage", `pot: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`, {
    next: "give caps of 0 or more, or none",
  });
}

export function shardCount(width: number): number {
  return Math.min(MAX_SHARDS, Math.max(1, Math.ceil(width / LEASES_PER_SHARD)));
}

/** All or nothing; when another command was first, its pot is the pot. */
async function createPot({ store, pot }: PotAccess, request: OpenRequest): Promise<void> {
  const { caps, width, breakerThreshold } = request;
  const shards = shardCount(width);
  const head: PotHead = {
    kind: "pot",
    schema_version: 1,
    caps,
    width,
    version: 0,
    shards,
    epoch: 0,
    breaker: { version: 0, threshold: breakerThreshold, refused: [] },
    anomalies: {},
  };
  const total = balanceOf(caps);
  await store.write([
    createItem(headKey(pot), head),
    ...Array.from({ length: shards }, (_, shard) =>
      createItem(shardKey(pot, shard), newShard(head.epoch, shareOf(total, shard, shards))),
    ),
  ]);
}

/** Even shares that add up exactly: the first ones get what does not divide. */
function shareOf(total: Amount, shard: number, shards: number): Amount {
  return mapUnits(
    (unit) => Math.floor(total[unit] / shards) + (shard < total[unit] % shards ? 1 : 0),
  );
}

/** A wider run gets more shards, each with a part of what the fullest one has. Never fewer. */
async function growPot(access: PotAccess, wanted: number): Promise<void> {
  const { store, pot } = access;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { head, shards } = await readPot(access);
    const added = wanted - shards.length;
    if (added <= 0) return;
    const giver = mapUnits((unit) => fullest(shards, unit));
    const part = mapUnits((unit) =>
      Math.floor(Math.max(0, shards[giver[unit]]?.remaining[unit] ?? 0) / (added + 1)),
    );
    const grown = await store.write([
      {
        key: headKey(pot),
        conditions: [equal(["shards"], shards.length)],
        changes: [set(["shards"], wanted)],
      },
      ...shards.flatMap((_, shard) => {
        const given = mapUnits((unit) => (giver[unit] === shard ? added * part[unit] : 0));
        return giveAway(shardKey(pot, shard), given);
      }),
      ...Array.from({ length: added }, (_, at) =>
        createItem(shardKey(pot, shards.length + at), newShard(head.epoch, part)),
      ),
    ]);
    if (grown) return;
  }
  throw crowded(pot, "add shards to it");
}

function giveAway(key: string, amount: Amount): ItemUpdate[] {
  const changes = addAmount(
    ["remaining"],
    mapUnits((unit) => -amount[unit]),
  );
  return changes.length === 0 ? [] : [{ key, conditions: atLeast(["remaining"], amount), changes }];
}

function fullest(shards: readonly PotShard[], unit: keyof Amount): number {
  const balances = shards.map(({ remaining }) => remaining[unit]);
  return balances.indexOf(Math.max(...balances));
}

function createItem(key: string, item: object): ItemUpdate {
  return { key, conditions: [absent(["kind"])], changes: setFields(item) };
}

function newShard(epoch: number, remaining: Amount): PotShard {
  return {
    kind: "shard",
    epoch,
    remaining,
    settled: NOTHING,
    ended: 0,
    open: 0,
    waiting: 0,
    unknown: { usd: 0, tokens: 0 },
    leases: {},
    samples: {},
    peaks: {},
  };
}
