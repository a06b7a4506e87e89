import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { clopperPearsonInterval } from "../../../core/stats/clopper-pearson.ts";
import { costPerPass, forecastCost, nearestRank } from "../../../core/stats/cost-forecast.ts";
import { holmAdjust, levelOfLook } from "../../../core/stats/holm.ts";
import { designEffect, varianceParts } from "../../../core/stats/intraclass-correlation.ts";
import { mcNemarTest } from "../../../core/stats/mc-nemar.ts";
import { pairedDifference } from "../../../core/stats/paired-difference.ts";
import { smallestDifference, tasksNeeded } from "../../../core/stats/power.ts";
import { signFlipTest } from "../../../core/stats/sign-flip.ts";
import {
  clusteredError,
  correctedClusteredError,
  standardError,
  taskMeans,
  taskMeansError,
} from "../../../core/stats/standard-error.ts";
import { tInterval } from "../../../core/stats/t-interval.ts";
import { unscoredBounds } from "../../../core/stats/unscored-bounds.ts";
import { wilsonInterval } from "../../../core/stats/wilson.ts";

interface GoldenInterval {
  x: number;
  n: number;
  wilson95: [number, number];
  clopper_pearson95: [number, number];
}

function readFixture(name: string): unknown {
  const file = new URL(`../../fixtures/${name}`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8"));
}

const INTERVALS = readFixture("intervals.json") as GoldenInterval[];

/** `111/000` as the scores of two tasks. */
function tasksOf(text: string): number[][] {
  return text.split("/").map((task) => Array.from(task, Number));
}

test("Wilson's and Clopper and Pearson's intervals agree with every golden value", () => {
  expect(INTERVALS).toHaveLength(50);
  for (const { x, n, wilson95, clopper_pearson95: exact } of INTERVALS) {
    expect(wilsonInterval(x, n)?.low).toBeCloseTo(wilson95[0], 14);
    expect(wilsonInterval(x, n)?.high).toBeCloseTo(wilson95[1], 14);
    expect(clopperPearsonInterval(x, n)?.low).toBeCloseTo(exact[0], 13);
    expect(clopperPearsonInterval(x, n)?.high).toBeCloseTo(exact[1], 13);
  }
});

test.each([
  [0, 1, 0, 0.793451],
  [1, 1, 0.206549, 1],
  [0, 3, 0, 0.561497],
  [3, 3, 0.438503, 1],
  [1, 3, 0.061492, 0.79234],
  [6, 9, 0.354202, 0.879416],
  [0, 10, 0, 0.277533],
  [10, 10, 0.722467, 1],
  [1, 10, 0.017876, 0.40415],
  [5, 10, 0.236593, 0.763407],
  [80, 100, 0.711171, 0.866633],
  [0, 100, 0, 0.036993],
  [100, 100, 0.963007, 1],
  [0, 1000, 0, 0.003827],
])("Wilson of %i of %i (D2)", (passes, trials, low, high) => {
  expect(wilsonInterval(passes, trials)?.low).toBeCloseTo(low, 6);
  expect(wilsonInterval(passes, trials)?.high).toBeCloseTo(high, 6);
});

test("the golden values that came with the digests hold", () => {
  const { wilson95 } = readFixture("digest-wilson-passk.json") as {
    wilson95: [number, number, number, number][];
  };
  expect(wilson95).toHaveLength(6);
  for (const [passes, trials, low, high] of wilson95) {
    expect(wilsonInterval(passes, trials)?.low).toBeCloseTo(low, 6);
    expect(wilsonInterval(passes, trials)?.high).toBeCloseTo(high, 6);
  }
});

test("exact intervals of nothing are null, and no count of passes is refused", () => {
  expect(clopperPearsonInterval(0, 0)).toBeNull();
  for (const passes of [-1, 4, 0.5, NaN]) {
    expect(() => clopperPearsonInterval(passes, 3)).toThrow("no count of passes");
    expect(() => wilsonInterval(passes, 3)).toThrow("no count of passes");
  }
});

test.each([
  ["111/111/000", 0.166667, 0.277778, 0.333333, 0.333333],
  ["110/100/000/111", 0.150756, 0.191353, 0.215166, 0.215166],
])("standard errors of %s (D3)", (...golden) => {
  const [text, clt, miller, corrected, ofMeans] = golden;
  const tasks = tasksOf(text);
  expect(standardError(tasks.flat())).toBeCloseTo(clt, 6);
  expect(clusteredError(tasks)).toBeCloseTo(miller, 6);
  expect(correctedClusteredError(tasks)).toBeCloseTo(corrected, 6);
  expect(taskMeansError(tasks)).toBeCloseTo(ofMeans, 6);
});

test("an error that cannot be told is null, not 0 (C-30)", () => {
  expect(standardError([1])).toBeNull();
  expect(standardError([])).toBeNull();
  expect(clusteredError([[1]])).toBeNull();
  expect(correctedClusteredError([[1, 0, 1]])).toBeNull();
  expect(taskMeansError([[1, 0, 1], []])).toBeNull();
  expect(tInterval([1])).toBeNull();
});

test.each([
  [[1, 1, 0], -0.768, 2.101],
  [[2 / 3, 1 / 3, 0, 1], -0.185, 1.185],
])("Student's interval of %j leaves the rates, and is told as it is (D4)", (means, low, high) => {
  expect(tInterval(means)?.low).toBeCloseTo(low, 3);
  expect(tInterval(means)?.high).toBeCloseTo(high, 3);
});

test("the intraclass correlation and the design effect are the golden ones (D4)", () => {
  const parts = varianceParts(tasksOf("110/100/000/111"));
  expect(parts?.withinTasks).toBeCloseTo(0.166667, 6);
  expect(parts?.betweenTasks).toBeCloseTo(0.12963, 6);
  expect(parts?.correlation).toBeCloseTo(0.4375, 10);
  expect(designEffect(10, 0.71)).toBeCloseTo(7.39, 10);
  expect(500 / designEffect(10, 0.71)).toBeCloseTo(68, 0);
});

test("a correlation that nothing tells of is null, and never below 0", () => {
  expect(varianceParts(tasksOf("1/0/1"))).toBeNull();
  expect(varianceParts(tasksOf("111"))).toBeNull();
  expect(varianceParts(tasksOf("111/111"))).toBeNull();
  expect(varianceParts(tasksOf("10/10"))?.correlation).toBe(0);
});

test("a paired difference has the golden mean, error and p values (D6)", () => {
  const third = 1 / 3;
  const differences = [third, third, 0, -third, 2 * third, third];
  const paired = pairedDifference(differences);
  expect(paired?.mean).toBeCloseTo(0.222222, 6);
  expect(paired?.standardError).toBeCloseTo(0.140546, 6);
  expect(paired?.pValue).toBeCloseTo(0.174688, 5);
  expect(signFlipTest(differences, 1)).toEqual({
    pValue: 0.3125,
    method: "exact",
    draws: null,
    seed: null,
  });
});

test("differences that are all alike have no p value of Student's, and none has 1 of flipped signs", () => {
  expect(pairedDifference([])).toBeNull();
  expect(pairedDifference([0.5, 0.5])).toMatchObject({ mean: 0.5, pValue: null, interval: null });
  expect(signFlipTest([0, 0, 0], 1).pValue).toBe(1);
  expect(signFlipTest([1, 1, 1, 1, 1, 1], 1).pValue).toBe(2 / 64);
});

test("many differences are drawn with a seed that the result names", () => {
  const differences = Array.from({ length: 40 }, (_, index) => (index % 5 === 0 ? -0.5 : 0.4));
  const drawn = signFlipTest(differences, 7);
  expect(drawn).toMatchObject({ method: "drawn", draws: 10_000, seed: 7 });
  expect(drawn).toEqual(signFlipTest(differences.toReversed(), 7));
  expect(drawn.pValue).toBeGreaterThan(0);
  expect(drawn.pValue).toBeLessThan(0.01);
  const alike = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? -0.5 : 0.5));
  expect(signFlipTest(alike, 7).pValue).toBe(1);
});

test.each([
  [0, 0, 1],
  [5, 0, 0.0625],
  [6, 0, 0.03125],
  [8, 2, 0.109375],
  [9, 1, 0.021484],
  [10, 3, 0.092285],
])("McNemar's exact p value of %i against %i (D6)", (first, second, pValue) => {
  expect(mcNemarTest(first, second)).toBeCloseTo(pValue, 6);
  expect(mcNemarTest(second, first)).toBe(mcNemarTest(first, second));
});

test("McNemar's p value holds for counts whose binomials pass the doubles", () => {
  expect(mcNemarTest(2500, 2500)).toBe(1);
  expect(mcNemarTest(3000, 2500)).toBeCloseTo(1.66e-11, 13);
});

test("Holm's p values and the levels of looks are the golden ones (D6, D9)", () => {
  expect(holmAdjust([0.01, 0.04, 0.03])).toEqual([0.03, 0.06, 0.06]);
  expect(holmAdjust([0.9])).toEqual([0.9]);
  expect(holmAdjust([])).toEqual([]);
  expect([1, 2, 3, 4].map((look) => levelOfLook(look))).toEqual([
    0.025,
    0.05 / 6,
    0.05 / 12,
    0.0025,
  ]);
});

test.each([
  [1, 0, 969],
  [1, 1 / 6, 3876],
  [10, 1 / 6, 1260],
])("a difference of 3 points needs the golden number of tasks (D6)", (trials, variance, tasks) => {
  const noise = {
    taskVariance: 1 / 9,
    trialVariances: [variance, variance],
    trialsPerTask: [trials, trials],
  } as const;
  expect(tasksNeeded(0.03, noise)).toBe(tasks);
  expect(smallestDifference(tasks, noise)).toBeCloseTo(0.03, 4);
  expect(smallestDifference(tasks, noise)).toBeLessThanOrEqual(0.03);
});

test("bounds for unscored trials are the golden ones (D7)", () => {
  const bounds = unscoredBounds(6, 8, 9);
  expect(bounds?.lowest).toBe(6 / 9);
  expect(bounds?.highest).toBe(7 / 9);
  expect(bounds?.interval.low).toBeCloseTo(0.3542, 4);
  expect(bounds?.interval.high).toBeCloseTo(0.9368, 4);
  expect(wilsonInterval(6, 8)?.low).toBeCloseTo(0.4093, 4);
  expect(wilsonInterval(6, 8)?.high).toBeCloseTo(0.9285, 4);
  expect(unscoredBounds(0, 0, 0)).toBeNull();
});

test("money: the forecast's golden value, cost of a pass, and the tail (D10)", () => {
  const forecast = forecastCost([1, 2, 3], 10);
  expect(forecast?.total).toBe(20);
  expect((forecast?.interval?.high ?? 0) - 20).toBeCloseTo(28.3, 1);
  expect(forecastCost([2], 10)).toEqual({ total: 20, interval: null });
  expect(forecastCost([], 10)).toBeNull();
  expect(costPerPass([1, 2, 3], 2)).toBe(3);
  expect(costPerPass([1], 0)).toBeNull();
  const costs = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(nearestRank(costs, 0.95)).toBe(95);
  expect(nearestRank(costs, 0.5)).toBe(50);
  expect(nearestRank([], 0.5)).toBeNull();
});

test("task means leave out tasks without a score", () => {
  expect(taskMeans([[1, 0], [], [1]])).toEqual([0.5, 1]);
});
