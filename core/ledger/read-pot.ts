import type * as z from "zod";
import { BenchError } from "../errors.ts";
import { LEDGER_UNITS } from "../model/ledger-amount.ts";
import { AttemptRecord, PotHead, PotShard } from "../model/ledger-pot.ts";
import type { PotView } from "../model/ledger-pot.ts";
import type { LedgerItem } from "../model/ledger-update.ts";
import type { Deaths } from "../ports/ledger.ts";
import type { LedgerStore } from "../ports/ledger-store.ts";
import { plus } from "./amounts.ts";
import { balanceOf } from "./caps.ts";
import { attemptKey, headKey, shardKey } from "./item-keys.ts";
import { sumPot } from "./sum-pot.ts";

/** What every operation on a pot works with. */
export interface PotAccess {
  readonly store: LedgerStore;
  /** Name of the pot; its items' keys start with it. */
  readonly pot: string;
  readonly deaths: Deaths;
}

/** Times that an operation starts again because others changed what it had read. */
export const MAX_TRIES = 64;

/**
 * The whole pot. Shards are read one by one while others move money between them, so a reading that
 * does not add up to the caps is read again; one that never does is damage, and nothing is spent.
 */
export async function readPot(access: PotAccess): Promise<PotView> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const head = await needHead(access);
    const keys = Array.from({ length: head.shards }, (_, shard) => shardKey(access.pot, shard));
    const items = await access.store.read(keys);
    const shards = items.map((item, at) => parseItem(PotShard, item, keys[at] ?? ""));
    if (addsUp({ head, shards })) return { head, shards };
  }
  throw damaged(access.pot, "its shares do not add up to its caps");
}

export async function readHead({ store, pot }: PotAccess): Promise<PotHead | null> {
  const key = headKey(pot);
  const [item] = await store.read([key]);
  return item === null || item === undefined ? null : parseItem(PotHead, item, key);
}

/** Throws `BenchError` (`config`) when there is no such pot. */
export async function needHead(access: PotAccess): Promise<PotHead> {
  const head = await readHead(access);
  if (head !== null) return head;
  throw new BenchError("config", `there is no pot ${access.pot}`, {
    next: "start the run that the pot belongs to",
  });
}

export async function readShard({ store, pot }: PotAccess, shard: number): Promise<PotShard> {
  const key = shardKey(pot, shard);
  const [item] = await store.read([key]);
  return parseItem(PotShard, item, key);
}

export async function readAttempt(
  { store, pot }: PotAccess,
  attempt: string,
): Promise<AttemptRecord | null> {
  const key = attemptKey(pot, attempt);
  const [item] = await store.read([key]);
  return item === null || item === undefined ? null : parseItem(AttemptRecord, item, key);
}

/** Remaining, held and settled are the cap, in every unit. */
export function addsUp(view: PotView): boolean {
  const { remaining, earmarked, leased, settled } = sumPot(view);
  const total = plus(remaining, earmarked, leased, settled);
  const caps = balanceOf(view.head.caps);
  return LEDGER_UNITS.every((unit) => total[unit] === caps[unit]);
}

function parseItem<Item>(
  schema: z.ZodType<Item>,
  item: LedgerItem | null | undefined,
  key: string,
): Item {
  const parsed = schema.safeParse(item);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw damaged(key, `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "no item"}`);
}

/** Others changed the pot each time that it was read. */
export function crowded(pot: string, doing: string): BenchError {
  return new BenchError("unavailable", `pot ${pot} is too busy to ${doing}`, {
    next: "run the same command again: what was spent is counted",
  });
}

function damaged(what: string, why: string): BenchError {
  return new BenchError("unavailable", `ledger ${what} is damaged: ${why}`, {
    next: "restore the ledger from a copy, or start over with --fresh",
  });
}
