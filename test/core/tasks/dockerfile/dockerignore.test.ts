import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  isIgnored,
  parseDockerignore,
  readIgnorePatterns,
} from "../../../../core/tasks/dockerfile/dockerignore.ts";

interface Vectors {
  files: string[];
  cases: { dockerignore: string; sent?: string[]; refused?: boolean }[];
}

const path = new URL("../../../fixtures/tasks/dockerignore-docker.json", import.meta.url);
const { files, cases } = JSON.parse(readFileSync(path, "utf8")) as Vectors;

/** What the docker client sends: the Dockerfile always, whatever the rules say. */
function sentFor(text: string): string[] | "refused" {
  try {
    const rules = parseDockerignore(text);
    return files.filter((file) => file === "Dockerfile" || !isIgnored(rules, file));
  } catch {
    return "refused";
  }
}

test.each(cases)(
  "sends what the docker client sends: $dockerignore",
  ({ dockerignore, sent, refused }) => {
    expect(sentFor(dockerignore)).toEqual(refused === true ? "refused" : sent?.toSorted());
  },
);

test("a hostile pattern ends at once", () => {
  const started = performance.now();
  const rules = readIgnorePatterns(["**/a".repeat(60), `${"*a".repeat(100)}b`]);
  expect(isIgnored(rules, "a/".repeat(60).concat("a".repeat(200)))).toBe(true);
  expect(isIgnored(rules, "a".repeat(240))).toBe(false);
  expect(performance.now() - started).toBeLessThan(2000);
});

test("more than 1000 patterns are refused", () => {
  expect(() => parseDockerignore("a\n".repeat(1001))).toThrow(
    "1001 patterns, at most 1000 are read",
  );
});

test("a path that is ignored stays so below, and a later rule that takes all back takes all back", () => {
  const part = fc.stringMatching(/^[a-z.]{1,4}$/u).filter((each) => each !== "." && each !== "..");
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
      const whole = parts.join("/");
      expect(isIgnored(parseDockerignore(whole), `${whole}/below`)).toBe(true);
      expect(isIgnored(parseDockerignore(`${whole}\n!${whole}`), whole)).toBe(false);
      expect(isIgnored(parseDockerignore(`*\n!**`), whole)).toBe(false);
    }),
  );
});
