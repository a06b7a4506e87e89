import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { amountOf } from "../../../core/ledger/amounts.ts";
import { leaseCalls } from "../../../core/ledger/lease-size.ts";
import { countPeak, highPeak } from "../../../core/ledger/peaks.ts";
import { applyUpdates } from "../../../core/ledger/apply-update.ts";
import { LedgerItem } from "../../../core/model/ledger-update.ts";
import { PotShard } from "../../../core/model/ledger-pot.ts";
import { aShard, usd } from "./ledger-builders.ts";

describe("the size of a lease", () => {
  const remaining = usd(2 ** 49);

  test("is one call in a narrow run, and ten at width 1,000", () => {
    const sizes = [1, 100, 101, 1000].map((width) =>
      leaseCalls({ width, remaining }, usd(100), ["microUsd"]),
    );
    expect(sizes).toEqual([1, 1, 2, 10]);
  });

  test("keeps a call a second of every trial under 200 writes a second, at any width", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), (width) => {
        const calls = leaseCalls({ width, remaining }, usd(100), ["microUsd"]);
        expect(width / calls).toBeLessThan(200);
      }),
    );
  });

  test("shrinks to one call as the pot runs low, in whichever unit does", () => {
    const poor = { width: 1000, remaining: amountOf({ microUsd: 1e9, tokens: 11_999_999 }) };
    const worst = amountOf({ microUsd: 100, tokens: 1000 });
    expect(leaseCalls(poor, worst, ["microUsd", "tokens"])).toBe(2);
    expect(leaseCalls(poor, worst, ["microUsd"])).toBe(10);
    const empty = { width: 1000, remaining: amountOf({ microUsd: 1e9, tokens: 0 }) };
    expect(leaseCalls(empty, worst, ["microUsd", "tokens"])).toBe(1);
  });
});

function counted(peaks: readonly number[]): PotShard {
  let item: LedgerItem = LedgerItem.parse(aShard());
  for (const peak of peaks) {
    const changes = countPeak("s", usd(peak));
    item = applyUpdates(() => item, [{ key: "k", conditions: [], changes }])?.get("k") ?? item;
  }
  return PotShard.parse(item);
}

describe("what 95 of 100 trials needed", () => {
  test("is the nearest rank, rounded up by a sixteenth at most, from any split over shards", () => {
    const figures = fc.array(fc.integer({ min: 0, max: 2 ** 50 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(figures, fc.integer({ min: 0, max: 60 }), (peaks, split) => {
        const shards = [counted(peaks.slice(0, split)), counted(peaks.slice(split))];
        const sorted = peaks.toSorted((one, other) => one - other);
        const exact = sorted[Math.ceil(0.95 * peaks.length) - 1] ?? 0;
        const found = highPeak(shards, "s", "microUsd");
        expect(found).toBeGreaterThanOrEqual(exact);
        expect(found).toBeLessThanOrEqual(exact * (1 + 1 / 16));
      }),
      { numRuns: 100 },
    );
  });

  test("is 0 when no trial of the setting has ended", () => {
    expect(highPeak([counted([])], "s", "microUsd")).toBe(0);
    expect(highPeak([counted([5])], "s|microUsd", "tokens")).toBe(0);
  });
});
