import { LEDGER_UNITS, UNCAPPED } from "../../../core/model/ledger-amount.ts";
import type { Amount, Caps } from "../../../core/model/ledger-amount.ts";
import { AttemptRecord, PotHead, PotShard } from "../../../core/model/ledger-pot.ts";
import type { PotView } from "../../../core/model/ledger-pot.ts";
import type { LedgerItem } from "../../../core/model/ledger-update.ts";

type Items = ReadonlyMap<string, LedgerItem>;

/** Whether one pot's money is all there, from the items' own fields: no code shared with the checked. */
export function isBalanced(items: Items): boolean {
  const total = { microUsd: 0, tokens: 0, sandboxMs: 0, rollouts: 0 };
  const count = (amount: unknown): void => {
    for (const unit of LEDGER_UNITS) total[unit] += (amount as Amount)[unit];
  };
  let caps: Caps | undefined;
  for (const [key, item] of items) {
    if (key.endsWith("/head")) caps = item["caps"] as Caps;
    if (item["kind"] !== "shard") continue;
    count(item["remaining"]);
    count(item["settled"]);
    for (const lease of Object.values(item["leases"] as Record<string, LedgerItem>))
      for (const part of ["earmarked", "leased", "settled"]) count(lease[part]);
  }
  return LEDGER_UNITS.every((unit) => total[unit] === (caps?.[unit] ?? UNCAPPED));
}

export function viewOf(items: Items, pot: string): PotView {
  const head = PotHead.parse(items.get(`${pot}/head`));
  const shards = Array.from({ length: head.shards }, (_, shard) =>
    PotShard.parse(items.get(`${pot}/shard/${String(shard)}`)),
  );
  return { head, shards };
}

export function recordsIn(items: Items, pot: string): Map<string, AttemptRecord> {
  const prefix = `${pot}/attempt/`;
  return new Map(
    [...items]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, item]) => [key.slice(prefix.length), AttemptRecord.parse(item)]),
  );
}
