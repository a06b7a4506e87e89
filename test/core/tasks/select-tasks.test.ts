import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { BenchError } from "../../../core/errors.ts";
import type { SkippedTask } from "../../../core/model/task.ts";
import { compareNames } from "../../../core/plan/compare-names.ts";
import { shuffleNames } from "../../../core/plan/shuffle-names.ts";
import { fnmatch } from "../../../core/tasks/fnmatch.ts";
import type { SelectOptions } from "../../../core/tasks/select-tasks.ts";
import { selectTasks } from "../../../core/tasks/select-tasks.ts";
import { aTask } from "../plan/plan-builders.ts";

const ALL: SelectOptions = {
  tasksDir: "tasks",
  include: [],
  exclude: [],
  limit: null,
  sampleSeed: null,
};
const NAMES = ["econ-b", "econ-a", "half-life", "Zeta", "task-10", "task-2"];

function select(
  over: Partial<SelectOptions>,
  names = NAMES,
  skipped: SkippedTask[] = [],
): string[] {
  const found = { tasks: names.map((name) => aTask(name)), skipped };
  return selectTasks(found, { ...ALL, ...over }).tasks.map((task) => task.name);
}

function thrown(over: Partial<SelectOptions>, skipped: SkippedTask[] = []): BenchError {
  try {
    select(over, NAMES, skipped);
  } catch (error) {
    if (error instanceof BenchError) return error;
  }
  return expect.fail("nothing was thrown");
}

test("globs filter first, then -n takes the first by name", () => {
  expect(select({})).toEqual(["Zeta", "econ-a", "econ-b", "half-life", "task-10", "task-2"]);
  expect(select({ include: ["econ-*", "half-life"] })).toEqual(["econ-a", "econ-b", "half-life"]);
  expect(select({ include: ["econ-*"], exclude: ["*-a"] })).toEqual(["econ-b"]);
  expect(select({ exclude: ["econ-*"], limit: 2 })).toEqual(["Zeta", "half-life"]);
  expect(select({ limit: 99 })).toHaveLength(6);
});

test("a pattern that matches nothing is an error, case counts", () => {
  expect(thrown({ include: ["econ-*", "zeta"] })).toMatchObject({
    kind: "usage",
    message: '-i "zeta" matches no task',
    next: "the names are Zeta, econ-a, econ-b, …; `bench tasks list` shows all",
  });
  expect(thrown({ exclude: ["nope"] }).message).toBe('-x "nope" matches no task');
});

test("an empty selection is an error with BenchFlow's text", () => {
  expect(thrown({ include: ["econ-*"], exclude: ["*"] })).toMatchObject({
    kind: "usage",
    message:
      "No tasks selected after include/exclude filtering (tasks_dir=tasks, include=['econ-*'], " +
      "exclude=['*']). Refusing to publish an empty 0/0 summary.",
    next: "`bench tasks list tasks` shows the names that -i and -x can match",
  });
});

test("unreadable tasks are selected like the others and never change the sample", () => {
  const broken = { name: "half-life", reason: "task.toml:1:1: x" };
  const found = {
    tasks: NAMES.filter((name) => name !== "half-life").map((name) => aTask(name)),
    skipped: [broken],
  };
  const drawn = { ...ALL, limit: 3, sampleSeed: 7 };
  const { tasks, skipped } = selectTasks(found, drawn);
  expect([...tasks, ...skipped].map((each) => each.name).toSorted(compareNames)).toEqual(
    select({ limit: 3, sampleSeed: 7 }),
  );
  expect(selectTasks(found, { ...ALL, include: ["econ-*"] }).skipped).toEqual([]);
  expect(selectTasks(found, ALL).skipped).toEqual([broken]);
});

test("a selection of which nothing can be read is an error that says why", () => {
  expect(
    thrown({ include: ["bad"] }, [{ name: "bad", reason: "task.toml:2:3: illegal" }]),
  ).toMatchObject({
    kind: "config",
    message: "task bad cannot be read: task.toml:2:3: illegal",
  });
});

interface Vectors {
  names: string[];
  draws: { seed: number; shuffled: string[] }[];
}

test("a seed draws the same sample on every platform", () => {
  const path = new URL("../../fixtures/tasks/seeded-samples.json", import.meta.url);
  const { names, draws } = JSON.parse(readFileSync(path, "utf8")) as Vectors;
  for (const { seed, shuffled } of draws) {
    expect(shuffleNames(names, seed)).toEqual(shuffled);
    const first = shuffled.slice(0, 5).toSorted(compareNames);
    expect(select({ limit: 5, sampleSeed: seed }, names)).toEqual(first);
    expect(select({ limit: 5, sampleSeed: seed }, names.toReversed())).toEqual(first);
  }
});

const aName = fc.stringMatching(/^[a-c-]{1,4}$/u);
const aPattern = fc.constantFrom("a*", "*b", "?", "[ab]*", "*-*", "*");

test("a selection is a sorted part of what matches, in any order of the input", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(aName, { minLength: 1 }),
      fc.record({
        include: fc.array(aPattern, { maxLength: 2 }),
        exclude: fc.array(aPattern, { maxLength: 1 }),
        limit: fc.option(fc.integer({ min: 1, max: 9 })),
        sampleSeed: fc.option(fc.integer()),
      }),
      (names, options) => {
        const matching = names.filter((name) => {
          const included =
            options.include.length === 0 || options.include.some((each) => fnmatch(name, each));
          return included && !options.exclude.some((each) => fnmatch(name, each));
        });
        const patterns = [...options.include, ...options.exclude];
        const allMatch = patterns.every((each) => names.some((name) => fnmatch(name, each)));
        fc.pre(allMatch && matching.length > 0);
        const selected = select(options, names);
        expect(selected).toEqual(select(options, names.toReversed()));
        expect(selected).toEqual(selected.toSorted(compareNames));
        expect(selected).toHaveLength(Math.min(matching.length, options.limit ?? Infinity));
        expect(selected.every((name) => matching.includes(name))).toBe(true);
      },
    ),
  );
});
