import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BenchError } from "../../../core/errors.ts";
import { NO_CAPS } from "../../../core/ledger/caps.ts";
import { findSources } from "../../../core/ledger/find-sources.ts";
import { LeaseClient } from "../../../core/ledger/lease-client.ts";
import { shardCount } from "../../../core/ledger/open-pot.ts";
import { leasesOf, stopOf, sumPot } from "../../../core/ledger/sum-pot.ts";
import { LEDGER_UNITS } from "../../../core/model/ledger-amount.ts";
import type { LedgerItem } from "../../../core/model/ledger-update.ts";
import { MemoryLedgerStore } from "../../fakes/memory-ledger.ts";
import { isBalanced } from "./inspect-table.ts";
import { aShard, admit, admitRequest, ledgerOn, openedOn, usd } from "./ledger-builders.ts";

/** Changes a stored item behind the ledger's back. */
function tamper(
  store: MemoryLedgerStore,
  key: string,
  change: (item: LedgerItem) => LedgerItem,
): void {
  store.items.set(key, change(store.items.get(key) ?? {}));
}

describe("a pot as it is read", () => {
  test("that does not add up to its caps is damaged, and nothing is spent from it", async () => {
    const store = new MemoryLedgerStore();
    const ledger = await openedOn(store, { microUsd: 100 });
    await admit(ledger, "one", { least: { ...usd(10), rollouts: 1 } });
    tamper(store, "pot/shard/1", (item) => ({ ...item, settled: usd(1) }));
    await expect(ledger.view()).rejects.toThrow("its shares do not add up to its caps");
    await expect(ledger.view()).rejects.toMatchObject({ kind: "unavailable" });
  });

  test.each([
    ["a field is gone", "pot/shard/0", ({ remaining: _gone, ...item }: LedgerItem) => item],
    ["a number is a text", "pot/shard/1", (item: LedgerItem) => ({ ...item, open: "0" })],
    ["it is of another kind", "pot/head", (item: LedgerItem) => ({ ...item, kind: "shard" })],
    [
      "it is of a later version",
      "pot/head",
      (item: LedgerItem) => ({ ...item, schema_version: 2 }),
    ],
  ])("is damaged when of an item %s", async (_name, key, change) => {
    const store = new MemoryLedgerStore();
    const ledger = await openedOn(store, { microUsd: 100 });
    tamper(store, key, change);
    await expect(ledger.view()).rejects.toThrow(`ledger ${key} is damaged`);
  });

  test("while money moves between shards is read again until it adds up", async () => {
    const store = new MemoryLedgerStore();
    const ledger = await openedOn(store, { microUsd: 100 });
    const read = store.read.bind(store);
    let torn = 3;
    store.read = async (keys) => {
      const items = await read(keys);
      if (keys.length < 2 || torn === 0) return items;
      torn -= 1;
      const [first, ...others] = items;
      return [{ ...first, settled: usd(9) }, ...others];
    };
    expect(sumPot(await ledger.view()).settled.microUsd).toBe(0);
    expect(torn).toBe(0);
  });
});

describe("a pot that is opened again", () => {
  test("has as many shards as the widest run needed, and the same money", async () => {
    const store = new MemoryLedgerStore();
    const widths = fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(widths, fc.integer({ min: 0, max: 1000 }), async (opens, microUsd) => {
        store.items.clear();
        for (const width of opens) {
          const ledger = await openedOn(store, { microUsd, rollouts: 7 }, width);
          const { shards } = await ledger.view();
          expect(shards.length).toBeGreaterThanOrEqual(shardCount(width));
        }
        const view = await ledgerOn(store).view();
        expect(view.shards.length).toBe(Math.max(...opens.map(shardCount)));
        expect(sumPot(view).remaining.microUsd).toBe(microUsd);
        expect(view.head.width).toBe(opens.at(-1));
      }),
      { numRuns: 50 },
    );
  });

  test("keeps what was spent whatever its caps become, and a debt is nobody's to spend", async () => {
    const caps = fc.record({
      microUsd: fc.option(fc.integer({ min: 0, max: 200 })),
      tokens: fc.option(fc.integer({ min: 0, max: 200 })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(caps, { minLength: 1, maxLength: 8 }), async (changes) => {
        const store = new MemoryLedgerStore();
        const ledger = await openedOn(store, { microUsd: 150, tokens: null }, 100);
        const open = await admit(ledger, "one", { trialCaps: { ...NO_CAPS, microUsd: 60 } });
        const owner = { open, token: "one", holder: "one", trialCaps: NO_CAPS };
        const client = new LeaseClient(ledger, owner);
        await client.draw("1", usd(60));
        client.openCall("1", usd(60));
        await client.close({ complete: true, unpriced: false });
        for (const change of changes) {
          await openedOn(store, change, 100);
          expect(isBalanced(store.items)).toBe(true);
          const view = await ledger.view();
          expect(view.head.caps).toEqual({ ...NO_CAPS, ...change });
          expect(sumPot(view).settled.microUsd).toBe(60);
          for (const unit of LEDGER_UNITS) {
            const inDebt = sumPot(view).remaining[unit] < 0;
            const positive = view.shards.filter(({ remaining }) => remaining[unit] > 0);
            expect(inDebt && positive.length > 0).toBe(false);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe("a stop", () => {
  const stop = { kind: "cancelled", reason: "by hand" } as const;

  test("whose messenger died on the way stops everybody, and is told on by whoever sees it", async () => {
    const store = new MemoryLedgerStore();
    const ledger = await openedOn(store, { microUsd: 100 }, 200);
    const open = await admit(ledger, "one", { trialCaps: { ...NO_CAPS, microUsd: 10 } });
    const other = (open.shard + 1) % 7;
    tamper(store, `pot/shard/${String(other)}`, (item) => ({ ...item, stop }));
    expect(stopOf(await ledger.view())).toEqual(stop);
    expect((await ledger.admit(admitRequest("two"))).kind).toBe("stopped");
    const view = await ledger.view();
    expect([view.head, ...view.shards].every((item) => item.stop !== undefined)).toBe(true);
  });

  test("of an earlier command that arrives late stops nobody", async () => {
    const store = new MemoryLedgerStore();
    const ledger = await openedOn(store, { microUsd: 100 }, 200);
    await ledger.stop(stop);
    const late = store.written.filter((updates) =>
      updates.some(({ changes }) => changes.some(({ path }) => path[0] === "stop")),
    );
    expect(late.length).toBe(8);
    await openedOn(store, { microUsd: 100 }, 200);
    for (const updates of late) store.apply(updates);
    expect(stopOf(await ledger.view())).toBeNull();
  });

  test("whose clearing was cut short is cleared by the next command", async () => {
    const store = new MemoryLedgerStore();
    const ledger = await openedOn(store, { microUsd: 100 }, 200);
    await ledger.stop(stop);
    const write = store.write.bind(store);
    let writes = 0;
    store.write = async (updates) => {
      writes += 1;
      if (writes === 4) throw new BenchError("unavailable", "killed", { next: "again" });
      return await write(updates);
    };
    await expect(openedOn(store, { microUsd: 100 }, 200)).rejects.toThrow("killed");
    expect(stopOf(await ledger.view())).toEqual(stop);
    await openedOn(store, { microUsd: 100 }, 200);
    const { head, shards } = await ledger.view();
    expect(
      shards.every(({ epoch, stop: told }) => epoch === head.epoch && told === undefined),
    ).toBe(true);
    expect(leasesOf(await ledger.view())).toEqual([]);
  });
});

describe("money from several shards", () => {
  test("is exactly what was asked for, and no shard gives more than it has", () => {
    const balances = fc.array(fc.integer({ min: -20, max: 50 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(balances, fc.nat(120), fc.nat(7), (remaining, wanted, at) => {
        const shards = remaining.map((microUsd) => aShard({ remaining: usd(microUsd) }));
        const own = at % shards.length;
        const sources = findSources(shards, own, usd(wanted));
        const there = remaining.reduce((sum, each) => sum + Math.max(0, each), 0);
        expect(sources !== null).toBe(there >= wanted);
        const parts =
          sources === null ? [] : [{ shard: own, amount: sources.own }, ...sources.donors];
        for (const { shard, amount } of parts)
          expect(amount.microUsd).toBeLessThanOrEqual(Math.max(0, remaining[shard] ?? 0));
        const taken = parts.reduce((sum, { amount }) => sum + amount.microUsd, 0);
        expect(taken).toBe(sources === null ? 0 : wanted);
      }),
    );
  });
});
