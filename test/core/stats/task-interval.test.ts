import * as fc from "fast-check";
import { expect, test } from "vitest";
import { cautionsOf } from "../../../core/stats/interval-cautions.ts";
import { seededDraws } from "../../../core/stats/seeded-draws.ts";
import { enumerateTasks, resampleTasks } from "../../../core/stats/task-bootstrap.ts";
import { taskInterval, type TaskRate, widenedLevel } from "../../../core/stats/task-interval.ts";

function ofRates(rates: readonly number[], trials = 3): TaskRate[] {
  return rates.map((rate) => ({ rate, trials }));
}

const rates = fc.array(fc.constantFrom(0, 1 / 3, 0.5, 2 / 3, 1), { minLength: 1, maxLength: 30 });

test("tasks of 3/3, 3/3 and 0/3 give 0% to 100%, as the page prints it", () => {
  expect(taskInterval(ofRates([1, 1, 0]))).toEqual({
    low: 0,
    high: 1,
    method: "enumerated",
    tasks: 3,
    level: 0.025,
    resamples: null,
    seed: null,
  });
});

test("four tasks of 2/3, 1/3, 0/3 and 3/3 give exactly 1/6 to 5/6 (D4)", () => {
  const interval = taskInterval(ofRates([2 / 3, 1 / 3, 0, 1]));
  expect(interval?.low).toBeCloseTo(1 / 6, 12);
  expect(interval?.high).toBeCloseTo(5 / 6, 12);
});

test("an interval of width 0 is never given: equal tasks get Wilson's, one a trial (D4, C-30)", () => {
  const all = taskInterval(ofRates([1, 1, 1]));
  expect(all).toMatchObject({ high: 1, method: "wilson-tasks" });
  expect(all?.low).toBeCloseTo(0.438503, 6);
  expect(taskInterval(ofRates([0, 0, 0]))?.high).toBeCloseTo(0.561497, 6);
  const halves = taskInterval(ofRates([0.5, 0.5]));
  expect((halves?.high ?? 0) - (halves?.low ?? 0)).toBeGreaterThan(0.5);
});

test("one task has Wilson's interval over its trials, and none has none", () => {
  expect(taskInterval([])).toBeNull();
  const one = taskInterval([{ rate: 1, trials: 1 }]);
  expect(one).toMatchObject({ high: 1, method: "wilson-trials" });
  expect(one?.low).toBeCloseTo(0.206549, 6);
  expect(taskInterval([{ rate: 2 / 3, trials: 3 }])?.low).toBeCloseTo(0.20766, 5);
});

test("the levels are widened for few tasks and not for many", () => {
  expect(widenedLevel(9)).toBeCloseTo(0.007225, 6);
  expect(widenedLevel(20)).toBeCloseTo(0.01588, 4);
  expect(widenedLevel(100_000)).toBeCloseTo(0.025, 4);
  expect(taskInterval(ofRates([1, 1, 1, 1, 1, 1, 1, 1, 0]))).toMatchObject({
    method: "resampled",
    level: widenedLevel(9),
    resamples: 10_000,
    seed: 0,
  });
});

test("drawn resamples come close to all resamples, with any seed", () => {
  const means = [0, 1 / 3, 2 / 3, 1, 1, 1 / 3, 0.5, 0];
  const exact = enumerateTasks(means, 0.025);
  for (const seed of [0, 1, 2, 3, -1, 2 ** 31]) {
    const drawn = resampleTasks(means, 0.025, seed);
    expect(Math.abs(drawn.low - exact.low)).toBeLessThan(0.03);
    expect(Math.abs(drawn.high - exact.high)).toBeLessThan(0.03);
  }
});

test("a level that no resample reaches has no ends, and never those of 0", () => {
  const means = [0.5, 0.75, 1];
  expect(() => enumerateTasks(means, 1.5)).toThrow(RangeError);
  expect(() => resampleTasks(means, 1.5, 0)).toThrow(RangeError);
});

function fiveDraws(seed: number): number[] {
  const draw = seededDraws(seed);
  return [1, 2, 3, 4, 5].map(() => draw(1000));
}

test("the same seed gives the same draws on every platform, and others differ", () => {
  expect(fiveDraws(0)).toEqual([617, 972, 40, 561, 550]);
  expect(fiveDraws(1)).not.toEqual(fiveDraws(0));
});

test("draws are even: every task is drawn as often as any other", () => {
  const draw = seededDraws(11);
  const counts = Array.from({ length: 7 }, () => 0);
  for (let drawn = 0; drawn < 70_000; drawn += 1) {
    const task = draw(7);
    counts[task] = (counts[task] ?? 0) + 1;
  }
  for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500);
});

test("the interval holds the rate, lies in [0, 1], has a width and knows no order of tasks", () => {
  fc.assert(
    fc.property(rates, (values) => {
      const interval = taskInterval(ofRates(values));
      if (interval === null) throw new Error("no interval of some tasks");
      const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
      expect(interval.low).toBeGreaterThanOrEqual(0);
      expect(interval.high).toBeLessThanOrEqual(1);
      expect(interval.low).toBeLessThanOrEqual(mean + 1e-12);
      expect(interval.high).toBeGreaterThanOrEqual(mean - 1e-12);
      expect(interval.high - interval.low).toBeGreaterThan(0);
      expect(taskInterval(ofRates(values.toReversed()))).toEqual(interval);
    }),
    { numRuns: 60 },
  );
});

test("failures mirror passes where every resample is counted", () => {
  const few = fc.array(fc.constantFrom(0, 0.25, 0.5, 0.75, 1), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(few, (values) => {
      const interval = taskInterval(ofRates(values));
      const mirrored = taskInterval(ofRates(values.map((value) => 1 - value)));
      expect(mirrored?.low).toBeCloseTo(1 - (interval?.high ?? NaN), 12);
      expect(mirrored?.high).toBeCloseTo(1 - (interval?.low ?? NaN), 12);
    }),
  );
});

test("cautions name what makes an interval over tasks worth less", () => {
  expect(cautionsOf([])).toEqual([]);
  expect(cautionsOf(ofRates([1], 1))).toEqual(["one-task", "few-trials"]);
  expect(cautionsOf(ofRates([1, 1, 0]))).toEqual(["few-tasks"]);
  expect(cautionsOf(ofRates([1, 1, 1], 2))).toEqual(["few-tasks", "equal-tasks", "few-trials"]);
  const most = Array.from({ length: 20 }, (_, index) => (index < 4 ? 0 : 1));
  expect(cautionsOf(ofRates(most))).toEqual(["few-outcomes"]);
  expect(cautionsOf(ofRates([...most, 0]))).toEqual([]);
});
