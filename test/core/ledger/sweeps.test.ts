import { describe, expect, test } from "vitest";
import { amountOf } from "../../../core/ledger/amounts.ts";
import { NO_CAPS } from "../../../core/ledger/caps.ts";
import { simulateSweep } from "./simulate-sweep.ts";
import { soakSweeps } from "./soak-sweeps.ts";
import { CALM, findBreaches } from "./sweep.ts";
import type { Sweep } from "./sweep.ts";

const SOAK = process.env["BENCH_TEST_SOAK"] === "1";
const SWEEPS = SOAK ? 10_000 : 150;

describe("sweeps", () => {
  test(
    `${String(SWEEPS)} sweeps with racing trials, crashes and late usage overshoot by 0, charge nothing twice and lose nothing`,
    { timeout: SOAK ? 3_600_000 : 240_000 },
    async () => {
      const { breaches, attempts: ended } = await soakSweeps({ firstSeed: 1, sweeps: SWEEPS });
      expect(breaches).toEqual([]);
      // The sweeps would show nothing if trials always ended in the same way.
      for (const kind of ["scored", "refused", "failed", "lost"] as const)
        expect(ended[kind], kind).toBeGreaterThan(SWEEPS / 50);
    },
  );
});

describe("a cap for 40% of 1,000 equal trials at width 1,000", () => {
  const calls = 10;
  const actual = 50_000;
  const mean = calls * actual;
  const sweep: Sweep = {
    seed: 1,
    trials: 1000,
    width: 1000,
    shardWidth: 1000,
    caps: { ...NO_CAPS, microUsd: 400 * mean },
    raise: null,
    trialCaps: NO_CAPS,
    weather: CALM,
    calls: [calls, calls],
    lanes: 1,
    worst: amountOf({ microUsd: 4 * actual, tokens: 300 }),
    actualPercent: [25, 25],
    callMs: [1000, 1000],
    deaths: 0,
    lostUsage: 0,
    retries: 0,
  };

  test(
    "scores at least 95% of cap / mean without a cap per trial",
    { timeout: 120_000 },
    async () => {
      const result = await simulateSweep(sweep);
      expect(findBreaches(result)).toEqual([]);
      expect(result.scored).toBeGreaterThanOrEqual(0.95 * 400);
      expect(result.spent.microUsd).toBeLessThanOrEqual(400 * mean);
    },
  );

  test("scores at least 95% of cap / mean with a cap per trial", { timeout: 120_000 }, async () => {
    const trialCaps = { ...NO_CAPS, microUsd: 3 * mean };
    const result = await simulateSweep({ ...sweep, trialCaps });
    expect(findBreaches(result)).toEqual([]);
    expect(result.scored).toBeGreaterThanOrEqual(0.95 * 400);
  });
});

const WIDTH = SOAK ? 1000 : 300;

test(
  `${String(WIDTH)} trials that each make a call a second write the pot less than 200 times in any second`,
  { timeout: SOAK ? 600_000 : 120_000 },
  async () => {
    const result = await simulateSweep({
      seed: 1,
      trials: WIDTH,
      width: WIDTH,
      shardWidth: WIDTH,
      caps: { ...NO_CAPS, microUsd: 1e11 },
      raise: null,
      trialCaps: { ...NO_CAPS, microUsd: 2e7 },
      weather: CALM,
      calls: [WIDTH / 12, WIDTH / 12],
      lanes: 1,
      worst: amountOf({ microUsd: 200_000, tokens: 300 }),
      // As dear as can be: a lease lasts for no more calls than it was made for.
      actualPercent: [100, 100],
      callMs: [1000, 1000],
      deaths: 0,
      lostUsage: 0,
      retries: 0,
    });
    expect(findBreaches(result)).toEqual([]);
    expect(result.widest).toBe(WIDTH);
    expect(result.writesInBusiestSecond).toBeLessThan(200);
  },
);
