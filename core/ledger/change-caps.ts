import { BenchError } from "../errors.ts";
import { LEDGER_UNITS } from "../model/ledger-amount.ts";
import type { Amount, Balance, Caps, LedgerUnit } from "../model/ledger-amount.ts";
import type { PotView } from "../model/ledger-pot.ts";
import type { Condition, ItemUpdate } from "../model/ledger-update.ts";
import { beyond, isNothing, mapUnits, minus, plus } from "./amounts.ts";
import { balanceOf } from "./caps.ts";
import { findSources } from "./find-sources.ts";
import { headKey, shardKey } from "./item-keys.ts";
import { MAX_TRIES, crowded, readPot } from "./read-pot.ts";
import type { PotAccess } from "./read-pot.ts";
import { leasesOf, sumPot } from "./sum-pot.ts";
import { addAmount, atLeast, equal, set } from "./updates.ts";

export interface NewCaps {
  readonly caps: Caps;
  readonly width: number;
}

/**
 * Changes the caps at once, also while trials run. A higher cap adds to what remains. A lower one is
 * taken from what remains; when that has too little, only while no trial is open, and then the pot is
 * overspent and nothing starts. Throws `BenchError` (`usage`) when trials hold too much.
 */
export async function changeCaps(access: PotAccess, { caps, width }: NewCaps): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const view = await readPot(access);
    const [before, after] = [balanceOf(view.head.caps), balanceOf(caps)];
    const isSame = LEDGER_UNITS.every((unit) => view.head.caps[unit] === caps[unit]);
    if (isSame && view.head.width === width) return;
    const raised = beyond(after, before);
    const lowered = beyond(before, after);
    const cut = cutShares(view, lowered) ?? cutIdleShares(view, lowered);
    const changed = await access.store.write([
      changeHead(access.pot, view, { caps, width }),
      ...cut.flatMap(({ change, conditions }, shard) =>
        changeShard(shardKey(access.pot, shard), {
          change: shard === 0 ? plus(change, raised) : change,
          conditions,
        }),
      ),
    ]);
    if (changed) return;
  }
  throw crowded(access.pot, "change its caps");
}

interface ShareChange {
  readonly change: Balance;
  readonly conditions: readonly Condition[];
}

/** What remains pays for the lower cap, if it can. */
function cutShares({ shards }: PotView, lowered: Amount): ShareChange[] | null {
  const sources = findSources(shards, 0, lowered);
  if (sources === null) return null;
  const parts = [{ shard: 0, amount: sources.own }, ...sources.donors];
  return shards.map((_, shard) => {
    const cut = plus(...parts.filter((part) => part.shard === shard).map(({ amount }) => amount));
    return {
      change: mapUnits((unit) => -cut[unit]),
      conditions: atLeast(["remaining"], cut),
    };
  });
}

/**
 * A cap below what was spent: all that remains goes to the first shard, which is then overdrawn, so
 * that no other has anything to spend. An open trial could still return money elsewhere.
 */
function cutIdleShares(view: PotView, lowered: Amount): ShareChange[] {
  if (leasesOf(view).length > 0) throw heldByTrials(view, lowered);
  const units = LEDGER_UNITS.filter((unit) => lowered[unit] > 0);
  const { remaining: total } = sumPot(view);
  return view.shards.map(({ remaining }, shard) => {
    const target = (unit: LedgerUnit): number => (shard === 0 ? total[unit] - lowered[unit] : 0);
    return {
      change: mapUnits((unit) => (units.includes(unit) ? target(unit) - remaining[unit] : 0)),
      conditions: [
        equal(["open"], 0),
        ...units.map((unit) => equal(["remaining", unit], remaining[unit])),
      ],
    };
  });
}

function changeHead(pot: string, { head }: PotView, { caps, width }: NewCaps): ItemUpdate {
  return {
    key: headKey(pot),
    conditions: [equal(["version"], head.version)],
    changes: [set(["caps"], caps), set(["width"], width), set(["version"], head.version + 1)],
  };
}

function changeShard(key: string, { change, conditions }: ShareChange): ItemUpdate[] {
  if (isNothing(change)) return [];
  return [{ key, conditions: [...conditions], changes: addAmount(["remaining"], change) }];
}

function heldByTrials(view: PotView, lowered: Amount): BenchError {
  const open = leasesOf(view);
  const { remaining } = sumPot(view);
  const missing = minus(lowered, remaining);
  const unit = LEDGER_UNITS.find((each) => missing[each] > 0) ?? "microUsd";
  return new BenchError(
    "usage",
    `the cap cannot be lowered by ${lowered[unit]} ${unit}: ${open.length} running trials hold what is left`,
    { next: "stop the run first, then give the lower cap with the same command" },
  );
}
