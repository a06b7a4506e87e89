import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fnmatch } from "../../../core/tasks/fnmatch.ts";
import { findTwins, problemOfName } from "../../../core/tasks/task-names.ts";

interface Vectors {
  cases: [name: string, pattern: string, matches: boolean][];
}

test("fnmatch agrees with Python's in 700 cases", () => {
  const path = new URL("../../fixtures/tasks/fnmatch-python.json", import.meta.url);
  const { cases } = JSON.parse(readFileSync(path, "utf8")) as Vectors;
  expect(cases).toHaveLength(700);
  for (const [name, pattern, matches] of cases) {
    expect([name, pattern, fnmatch(name, pattern)]).toEqual([name, pattern, matches]);
  }
});

test("a hostile pattern ends at once", () => {
  const started = performance.now();
  expect(fnmatch("a".repeat(200), `${"*a".repeat(100)}*b`)).toBe(false);
  expect(performance.now() - started).toBeLessThan(1000);
});

test("a name matches itself when its special characters are in sets", () => {
  fc.assert(
    fc.property(fc.string(), (name) => {
      expect(
        fnmatch(
          name,
          name.replaceAll(/[*?[]/gu, (char) => `[${char}]`),
        ),
      ).toBe(true);
      expect(fnmatch(name, "*")).toBe(true);
    }),
  );
});

test.each(["hello-world", "3d_scan.calc", "日本", ".hidden", "x".repeat(200)])(
  "the name %j is fine",
  (name) => {
    expect(problemOfName(name)).toBeNull();
  },
);

test.each([
  ["..", "the folder has no name of its own"],
  ["a/b", "the name holds a slash"],
  ["a\\b", "the name holds a slash"],
  ["a\nb", "the name holds control characters"],
  ["a\u001b[31m", "the name holds control characters"],
  ["a\u202eb", "the name holds control characters"],
  ["\ud800", "the name is not valid Unicode"],
  ["x".repeat(201), "the name has 201 bytes, at most 200 fit"],
  ["é".repeat(101), "the name has 202 bytes"],
  ["task__0123abcd", "the name ends like a trial's folder"],
])("the name %j is refused", (name, problem) => {
  expect(problemOfName(name)).toContain(problem);
});

test("twins by accents and by case are found, each names the other", () => {
  const twins = findTwins(["caf\u00e9", "cafe\u0301", "A", "a", "b", "Straße", "STRASSE"]);
  expect(Object.fromEntries(twins)).toEqual({
    "caf\u00e9": "cafe\u0301",
    "cafe\u0301": "caf\u00e9",
    A: "a",
    a: "A",
    Straße: "STRASSE",
    STRASSE: "Straße",
  });
});
