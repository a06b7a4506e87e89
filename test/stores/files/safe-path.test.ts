import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hostilePaths } from "../../../stores/contract/hostile-paths.ts";
import {
  checkName,
  escapeName,
  safeSegments,
  unescapeName,
} from "../../../stores/files/safe-path.ts";
import { isTemporaryName } from "../../../stores/files/temporary-name.ts";

describe("a path from a task or an agent", () => {
  test.each(hostilePaths.map((path) => [path.slice(0, 40), path]))(
    "is refused when it does not stay inside: %j",
    (_, path) => {
      expect(() => safeSegments(path)).toThrow(/^path "/u);
    },
  );

  test("never gets out, whatever it is made of", () => {
    const part = fc.oneof(
      fc.constantFrom("..", ".", "", "/", "\0", "a"),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        let segments: string[] = [];
        try {
          segments = safeSegments(parts.join("/"));
        } catch {
          return;
        }
        for (const segment of segments) {
          expect(segment).not.toMatch(/^\.{0,2}$|[/\0]/u);
          expect(Buffer.byteLength(segment)).toBeLessThanOrEqual(255);
        }
      }),
    );
  });

  test("keeps every name that all systems can store", () => {
    for (const path of [
      "verifier/reward.txt",
      "a b/ü.txt",
      "100%/50%.txt",
      ".bashrc",
      "conf/nul1",
    ]) {
      expect(safeSegments(path).join("/")).toBe(path);
    }
  });

  test.each([
    ["a:b", "a%3Ab"],
    ["CON", "%43ON"],
    ["con.txt", "%63on.txt"],
    ["x.", "x%2E"],
    ["x ", "x%20"],
    ["a\rb", "a%0Db"],
    ["50%25", "50%2525"],
    ["a\\b", "a%5Cb"],
    [".tmp-1-2-89abcdef", "%2Etmp-1-2-89abcdef"],
  ])("that Windows or we could not store is escaped: %j as %j", (name, escaped) => {
    expect(escapeName(name)).toBe(escaped);
    expect(unescapeName(escaped)).toBe(name);
  });

  test("is escaped so that every name comes back, and no two become one", () => {
    const name = fc.oneof(
      fc.string({ unit: "grapheme", minLength: 1 }),
      fc.stringMatching(/^[%0-9a-fA-F:. ]{1,8}$/),
      fc.constantFrom("con", "%63on", "%2563on", "aux.", "LPT1.x", "%", "%%41", "%2:"),
    );
    fc.assert(
      fc.property(name, (given) => {
        const escaped = escapeName(given);
        expect(unescapeName(escaped)).toBe(given);
        expect(isTemporaryName(escaped)).toBe(false);
        expect(escaped).not.toMatch(/[<>:"|?*\\]|\p{Cc}|[. ]$/u);
      }),
    );
  });
});

test("a name that must stay as it is is refused rather than escaped away", () => {
  for (const name of ["a/b", "..", "", ".tmp-1-2-89abcdef"]) {
    expect(() => {
      checkName(name);
    }).toThrow(/is no plain|^path/u);
  }
  expect(() => {
    checkName("alpha__00000001");
  }).not.toThrow();
});
