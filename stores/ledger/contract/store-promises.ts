import assert from "node:assert/strict";
import type { Condition, ItemUpdate, LedgerItem } from "../../../core/model/ledger-update.ts";
import type { LedgerStore } from "../../../core/ports/ledger-store.ts";
import type { LedgerFixture, LedgerPromise } from "./ledger-promise.ts";

/** What a store promises about items, conditions and transactions, whatever they mean. */
export const storePromises: readonly LedgerPromise[] = [
  {
    promise: "an item that was never written reads as nothing, among others that were",
    check: async (fixture) => {
      const store = await fixture.openStore();
      await put(store, key(fixture, "there"), { word: "x" });
      const keys = ["gone", "there", "gone too"].map((name) => key(fixture, name));
      assert.deepEqual(await store.read(keys), [null, { word: "x" }, null]);
    },
  },
  {
    promise: "values come back as they were written, large numbers to the last digit",
    check: async (fixture) => {
      const item = {
        large: 2 ** 50,
        negative: -(2 ** 50) + 1,
        text: 'line\nbreak "quoted" \\ ü€𝄞\u2028',
        empty: "",
        nothing: null,
        yes: true,
        no: false,
        list: [1, [], {}, "x"],
        deep: { a: { b: { c: {} } } },
      };
      const store = await fixture.openStore();
      await put(store, key(fixture, "item"), item);
      const again = await fixture.openStore();
      assert.deepEqual(await again.read([key(fixture, "item")]), [item]);
    },
  },
  {
    promise: "names may hold dots, slashes, hashes, colons and blanks, and words of any language",
    check: async (fixture) => {
      const store = await fixture.openStore();
      const names = [
        "a.b",
        "a/b",
        "#n",
        ":v",
        "a b",
        "[0]",
        "constructor",
        "größe",
        "task__1a2b#2",
      ];
      const at = key(fixture, "a/b.c#d:e f");
      await put(store, at, { map: {} });
      for (const name of names) {
        const path = ["map", name];
        assert.equal(await change(store, at, [{ path, do: "set", value: { count: 1 } }]), true);
        assert.equal(
          await change(store, at, [{ path: [...path, "count"], do: "add", by: 2 }]),
          true,
        );
      }
      const map = Object.fromEntries(names.map((name) => [name, { count: 3 }]));
      assert.deepEqual(await store.read([at]), [{ map }]);
    },
  },
  {
    promise:
      "a change sets, adds to what may not be there yet, and removes, and touches nothing else",
    check: async (fixture) => {
      const store = await fixture.openStore();
      const at = key(fixture, "item");
      await put(store, at, { map: { kept: 1, gone: { deep: 1 } }, count: 5 });
      await change(store, at, [
        { path: ["count"], do: "add", by: -7 },
        { path: ["map", "fresh"], do: "add", by: 3 },
        { path: ["map", "gone"], do: "remove" },
        { path: ["map", "never"], do: "remove" },
        { path: ["word"], do: "set", value: "x" },
      ]);
      const map = { kept: 1, fresh: 3 };
      assert.deepEqual(await store.read([at]), [{ map, count: -2, word: "x" }]);
    },
  },
  {
    promise: "a write happens when its condition holds, and not at all when it does not",
    check: async (fixture) => {
      const store = await fixture.openStore();
      const item = { count: 5, word: "5", flag: true, none: null, map: { count: 5 } };
      for (const [condition, holds] of CONDITIONS) {
        const at = key(fixture, JSON.stringify(condition));
        await put(store, at, item);
        const updates = [update(at, [condition], [{ path: ["seen"], do: "set", value: 1 }])];
        const told = JSON.stringify(condition);
        assert.equal(await store.write(updates), holds, told);
        const [found] = await store.read([at]);
        assert.deepEqual(found, holds ? { ...item, seen: 1 } : item, told);
      }
    },
  },
  {
    promise: "several updates happen together or not at all, up to 65 items",
    check: async (fixture) => {
      const store = await fixture.openStore();
      const keys = Array.from({ length: 65 }, (_, at) => key(fixture, `item ${String(at)}`));
      const all = (condition: Condition[]): ItemUpdate[] =>
        keys.map((at, index) =>
          update(at, index === 64 ? condition : [], [{ path: ["count"], do: "add", by: 1 }]),
        );
      assert.equal(await store.write(all([{ path: ["count"], is: "present" }])), false);
      assert.deepEqual(
        await store.read(keys),
        keys.map(() => null),
      );
      assert.equal(await store.write(all([])), true);
      assert.deepEqual(
        await store.read(keys),
        keys.map(() => ({ count: 1 })),
      );
    },
  },
  {
    promise: "what one handle wrote, every other one reads at once",
    check: async (fixture) => {
      const [one, other] = [await fixture.openStore(), await fixture.openStore()];
      const at = key(fixture, "item");
      await put(one, at, { count: 0 });
      for (let turn = 1; turn <= 20; turn += 1) {
        const [writer, reader] = turn % 2 === 0 ? [one, other] : [other, one];
        await change(writer, at, [{ path: ["count"], do: "add", by: 1 }]);
        assert.deepEqual(await reader.read([at]), [{ count: turn }]);
      }
    },
  },
  {
    promise: "of 200 writers that race from 4 handles for 60 pieces, 60 get one",
    check: async (fixture) => {
      const at = key(fixture, "pieces");
      const stores = await Promise.all([1, 2, 3, 4].map(async () => await fixture.openStore()));
      await put(first(stores), at, { remaining: 60 });
      const take = update(
        at,
        [{ path: ["remaining"], is: "at-least", value: 1 }],
        [{ path: ["remaining"], do: "add", by: -1 }],
      );
      const racers = Array.from({ length: 200 }, async (_, racer) =>
        (stores[racer % 4] ?? first(stores)).write([take]),
      );
      const got = await Promise.all(racers);
      assert.equal(got.filter(Boolean).length, 60);
      assert.deepEqual(await first(stores).read([at]), [{ remaining: 0 }]);
    },
  },
];

const CONDITIONS: readonly (readonly [Condition, boolean])[] = [
  [{ path: ["count"], is: "present" }, true],
  [{ path: ["none"], is: "present" }, true],
  [{ path: ["lost"], is: "present" }, false],
  [{ path: ["map", "lost"], is: "present" }, false],
  [{ path: ["lost", "count"], is: "present" }, false],
  [{ path: ["lost"], is: "absent" }, true],
  [{ path: ["map", "lost"], is: "absent" }, true],
  [{ path: ["lost", "count"], is: "absent" }, true],
  [{ path: ["none"], is: "absent" }, false],
  [{ path: ["count"], is: "equal", value: 5 }, true],
  [{ path: ["count"], is: "equal", value: "5" }, false],
  [{ path: ["word"], is: "equal", value: 5 }, false],
  [{ path: ["word"], is: "equal", value: "5" }, true],
  [{ path: ["flag"], is: "equal", value: true }, true],
  [{ path: ["lost"], is: "equal", value: 5 }, false],
  [{ path: ["map", "count"], is: "equal", value: 5 }, true],
  [{ path: ["count"], is: "at-least", value: 5 }, true],
  [{ path: ["count"], is: "at-least", value: 6 }, false],
  [{ path: ["count"], is: "at-least", value: -1 }, true],
  [{ path: ["word"], is: "at-least", value: 1 }, false],
  [{ path: ["lost"], is: "at-least", value: -1 }, false],
];

function key({ pot }: LedgerFixture, name: string): string {
  return `${pot}/${name}`;
}

function first(stores: readonly LedgerStore[]): LedgerStore {
  const [store] = stores;
  assert.ok(store !== undefined);
  return store;
}

function update(at: string, conditions: Condition[], changes: ItemUpdate["changes"]): ItemUpdate {
  return { key: at, conditions, changes };
}

async function change(
  store: LedgerStore,
  at: string,
  changes: ItemUpdate["changes"],
): Promise<boolean> {
  return await store.write([update(at, [], changes)]);
}

async function put(store: LedgerStore, at: string, item: LedgerItem): Promise<void> {
  const changes = Object.entries(item).map(([field, value]) => ({
    path: [field],
    do: "set" as const,
    value,
  }));
  assert.equal(await change(store, at, changes), true);
}
