import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BenchError } from "../../../core/errors.ts";
import { applyUpdates } from "../../../core/ledger/apply-update.ts";
import type { ItemUpdate, LedgerItem } from "../../../core/model/ledger-update.ts";

const none = (): null => null;
const numberAsText = (): LedgerItem => ({ x: "1" });

function update(changes: ItemUpdate["changes"], over: Partial<ItemUpdate> = {}): ItemUpdate {
  return { key: "a", conditions: [], changes, ...over };
}

function set(...path: string[]): ItemUpdate["changes"][number] {
  return { path, do: "set", value: 1 };
}

describe("an update that DynamoDB would refuse is a bug", () => {
  test.each([
    ["two changes of one field", [update([set("x"), { path: ["x"], do: "add", by: 1 }])]],
    ["a change inside another one's", [update([set("x", "y", "z"), set("xy"), set("x")])]],
    ["two updates of one item", [update([set("x")]), update([set("y")])]],
    ["no update at all", []],
    [
      "more than 100 items",
      Array.from({ length: 101 }, (_, at) => update([set("x")], { key: String(at) })),
    ],
    ["a change inside what is not there", [update([set("x", "y")])]],
  ])("%s", (_name, updates) => {
    expect(() => applyUpdates(none, updates)).toThrow(BenchError);
  });

  test("a change inside a number, a list or a text", () => {
    for (const value of [1, [1], "text", null]) {
      const items = (): LedgerItem => ({ x: value });
      expect(() => applyUpdates(items, [update([set("x", "0")])])).toThrow(BenchError);
    }
    const add: ItemUpdate["changes"] = [{ path: ["x"], do: "add", by: 1 }];
    expect(() => applyUpdates(numberAsText, [update(add)])).toThrow(BenchError);
  });

  test("names that only share their beginning are different fields", () => {
    const changed = applyUpdates(none, [update([set("x"), set("xy"), set("x y"), set("x.y")])]);
    expect(changed?.get("a")).toEqual({ x: 1, xy: 1, "x y": 1, "x.y": 1 });
  });
});

test("an update leaves the item that it was given as it was", () => {
  const item = fc.dictionary(fc.string({ minLength: 1 }), fc.dictionary(fc.string(), fc.integer()));
  fc.assert(
    fc.property(item, fc.string({ minLength: 1 }), (before, field) => {
      const kept = JSON.stringify(before);
      applyUpdates(() => before, [update([{ path: [field], do: "set", value: {} }])]);
      applyUpdates(() => before, [update([{ path: [field], do: "remove" }])]);
      expect(JSON.stringify(before)).toBe(kept);
    }),
  );
});
