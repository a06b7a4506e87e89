import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareNames } from "../../../core/plan/compare-names.ts";
import {
  automaticJobName,
  checkJobName,
  isAutomaticJobName,
  nextAutomaticJobName,
} from "../../../core/plan/job-name.ts";
import { repeatDirs } from "../../../core/plan/repeat-dirs.ts";
import { problemOfTaskName, rolloutNameOf, taskNameOf } from "../../../core/plan/rollout-name.ts";
import { shuffleNames } from "../../../core/plan/shuffle-names.ts";
import { someSettings } from "./plan-builders.ts";

describe("a job's name", () => {
  test("is the local time, and recognised as one", () => {
    const name = automaticJobName(new Date(2026, 10, 4, 18, 24, 1));
    expect(name).toBe("2026-11-04__18-24-01");
    expect(isAutomaticJobName(name)).toBe(true);
    expect(["worker-shards", "2026-11-04", `${name}-2`, `x${name}`].some(isAutomaticJobName)).toBe(
      false,
    );
  });

  test("that is taken gives way to the next second, across every border", () => {
    expect(nextAutomaticJobName("2026-11-04__18-24-21")).toBe("2026-11-04__18-24-22");
    expect(nextAutomaticJobName("2026-12-31__23-59-59")).toBe("2027-01-01__00-00-00");
    fc.assert(
      fc.property(fc.date({ min: new Date(2000, 0), max: new Date(2090, 0) }), (at) => {
        fc.pre(!Number.isNaN(at.getTime()));
        const name = automaticJobName(at);
        const next = nextAutomaticJobName(name);
        expect(isAutomaticJobName(next)).toBe(true);
        expect(compareNames(name, next)).toBeLessThan(0);
      }),
    );
  });

  test.each([
    "",
    ".",
    "..",
    "../x",
    "a/b",
    "a\\b",
    ".hidden",
    "a\0b",
    "a\nb",
    "trial-01",
    "x".repeat(201),
  ])("is refused when it is not one plain folder: %j", (name) => {
    expect(() => checkJobName(name)).toThrow("--job-name");
  });

  test("may be any plain word", () => {
    expect(() => checkJobName("nächtlich 2")).not.toThrow();
  });
});

describe("an attempt's folder", () => {
  test("carries its task's name and gives it back", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.stringMatching(/^[0-9a-f]{8}$/), (task, hex8) => {
        expect(taskNameOf(rolloutNameOf(task, hex8))).toBe(task);
      }),
    );
    expect(taskNameOf("logs")).toBeNull();
    expect(taskNameOf("alpha__XYZ")).toBeNull();
  });

  test("has room for a task's name of 245 bytes and not for more", () => {
    expect(problemOfTaskName("x".repeat(245))).toBeNull();
    expect(problemOfTaskName("é".repeat(123))).toContain("246 bytes");
  });
});

test("names are ordered by their UTF-8 bytes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (a, b) => {
      expect(Math.sign(compareNames(a, b))).toBe(
        Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))),
      );
    }),
  );
  expect(compareNames("\u{1F600}", "\uFF01")).toBeGreaterThan(0);
});

describe("a seeded order", () => {
  const names = ["a", "b", "c", "d", "e", "f", "g", "h"];

  test("is pinned for a seed, on every platform", () => {
    expect(shuffleNames(names, 7).join("")).toBe("chbfedga");
  });

  test("holds the same names, whatever order they came in", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string()), fc.integer(), (given, seed) => {
        const shuffled = shuffleNames(given, seed);
        expect(shuffled.toSorted(compareNames)).toEqual(given.toSorted(compareNames));
        expect(shuffleNames(given.toReversed(), seed)).toEqual(shuffled);
      }),
    );
  });
});

describe("repeats", () => {
  test("of a plain run lie in the jobs folder itself", () => {
    expect(repeatDirs(someSettings({ jobsDir: "jobs" }))).toEqual([{ repeat: 1, jobsDir: "jobs" }]);
  });

  test("lie below the agent's name, counted from 01", () => {
    const settings = someSettings({ jobsDir: "jobs/no-skills/", trials: 100 });
    const dirs = repeatDirs(settings).map(({ jobsDir }) => jobsDir);
    expect(dirs[0]).toBe("jobs/no-skills/oracle/trial-01");
    expect(dirs[99]).toBe("jobs/no-skills/oracle/trial-100");
  });
});
