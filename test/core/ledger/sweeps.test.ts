import { describe, expect, test } from "vitest";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { amountOf } from "../../../core/ledger/amounts.ts";
import { NO_CAPS } from "../../../core/ledger/caps.ts";
import { simulateSweep } from "./simulate-sweep.ts";
import { CALM, findBreaches } from "./sweep.ts";
import type { Sweep } from "./sweep.ts";

const SOAK = process.env["BENCH_TEST_SOAK"] === "1";
const SWEEPS = SOAK ? 10_000 : 500;

/** A sweep that nothing is kind to, different in every respect for every seed. */
function anySweep(seed: number): Sweep {
  const generator = xoroshiro128plus(seed);
  const int = (low: number, high: number): number => uniformInt(generator, low, high);
  const share = (...percents: readonly number[]): number =>
    (percents[int(0, percents.length - 1)] ?? 0) / 100;
  const trials = int(2, 9);
  const worst = amountOf({ microUsd: int(0, 300), tokens: int(0, 300) });
  const capOf = (each: number): number | null =>
    int(0, 3) === 0 ? null : int(0, 4 * trials * each);
  const caps = {
    ...NO_CAPS,
    microUsd: capOf(worst.microUsd),
    tokens: capOf(worst.tokens),
    rollouts: int(0, 3) === 0 ? int(0, trials + 1) : null,
  };
  const raised = (cap: number | null): number | null => (cap === null ? null : cap + int(0, 500));
  return {
    seed,
    trials,
    width: int(1, 6),
    shardWidth: [1, 64, 100][int(0, 2)] ?? 1,
    caps,
    raise:
      int(0, 2) === 0
        ? {
            atMs: int(0, 3000),
            caps: { ...caps, microUsd: raised(caps.microUsd), tokens: raised(caps.tokens) },
          }
        : null,
    trialCaps: int(0, 3) === 0 ? { ...NO_CAPS, microUsd: int(1, 3) * worst.microUsd } : NO_CAPS,
    weather: {
      lostAnswers: share(0, 2, 10),
      failures: share(0, 0, 3),
      duplicates: share(0, 5, 20),
      tornReads: share(0, 20, 60),
    },
    calls: [1, int(1, 7)],
    lanes: int(1, 3),
    worst,
    actualPercent: [int(0, 60), int(60, 100)],
    callMs: [10, int(10, 500)],
    deaths: share(0, 30, 80),
    lostUsage: share(0, 5, 20),
    retries: int(0, 2),
  };
}

describe("sweeps", () => {
  test(
    `${String(SWEEPS)} sweeps with racing trials, crashes and late usage overshoot by 0, charge nothing twice and lose nothing`,
    { timeout: SOAK ? 3_600_000 : 240_000 },
    async () => {
      const broken: string[] = [];
      const ended = { scored: 0, refused: 0, failed: 0, lost: 0, running: 0 };
      for (let seed = 1; seed <= SWEEPS; seed += 1) {
        const result = await simulateSweep(anySweep(seed));
        for (const breach of findBreaches(result)) broken.push(`seed ${String(seed)}: ${breach}`);
        for (const { outcome } of result.attempts.values()) ended[outcome] += 1;
      }
      expect(broken).toEqual([]);
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
