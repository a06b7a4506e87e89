import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  formatPercent,
  formatReward,
  formatWholePercent,
} from "../../../core/results/format-share.ts";

test.each([
  [2, 3, "66.7%", "67%"],
  [1, 12, "8.3%", "8%"],
  [1, 3, "33.3%", "33%"],
  [1, 16, "6.3%", "6%"],
  [1, 8, "12.5%", "13%"],
  [9999, 10_000, "99.9%", ">99%"],
  [1, 10_000, "0.1%", "<1%"],
  [0, 7, "0.0%", "0%"],
  [7, 7, "100.0%", "100%"],
  [0, 0, "-", "-"],
])("%i of %i is %s, or %s", (part, whole, precise, rough) => {
  expect(formatPercent(part, whole)).toBe(precise);
  expect(formatWholePercent(part, whole)).toBe(rough);
});

test("all or none is printed exactly when it is so", () => {
  const share = fc
    .integer({ min: 1, max: 1_000_000 })
    .chain((whole) => fc.tuple(fc.nat({ max: whole }), fc.constant(whole)));
  fc.assert(
    fc.property(share, ([part, whole]) => {
      expect(formatPercent(part, whole) === "0.0%").toBe(part === 0);
      expect(formatPercent(part, whole) === "100.0%").toBe(part === whole);
      expect(formatWholePercent(part, whole) === "0%").toBe(part === 0);
      expect(formatWholePercent(part, whole) === "100%").toBe(part === whole);
      expect(
        Math.abs(Number.parseFloat(formatPercent(part, whole)) - (100 * part) / whole),
      ).toBeLessThan(0.11);
    }),
  );
});

test.each([
  [1, "1.00"],
  [0, "0.00"],
  [2 / 3, "0.67"],
  [0.999, "0.99"],
  [0.001, "0.01"],
  [-0.001, "-0.01"],
  [1.001, "1.01"],
  [-1, "-1.00"],
])("a reward of %d is shown as %s", (reward, text) => {
  expect(formatReward(reward)).toBe(text);
});
