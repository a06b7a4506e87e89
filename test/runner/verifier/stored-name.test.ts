import fc from "fast-check";
import { expect, test } from "vitest";
import {
  escapeBytes,
  joinNames,
  nameBytes,
  splitPath,
  storedName,
} from "../../../runner/verifier/stored-name.ts";
import { safeSegments } from "../../../stores/files/safe-path.ts";

const anyName = fc
  .oneof(
    fc.uint8Array({ minLength: 1, maxLength: 255 }),
    fc.string({ unit: "binary", minLength: 1 }).map((text) => new TextEncoder().encode(text)),
    fc
      .constantFrom("=FF", "=~", "a=3Db", "%41", "con", "x.", "é", "\u001b[31m")
      .map((text) => new TextEncoder().encode(text)),
  )
  .map((bytes) => bytes.filter((byte) => byte !== 0 && byte !== 0x2f))
  .filter((bytes) => bytes.length > 0 && ![".", ".."].includes(Buffer.from(bytes).toString()));

test("any name becomes one that every store takes, and no two become the same", () => {
  fc.assert(
    fc.property(anyName, anyName, (one, other) => {
      const stored = storedName(one);
      expect(safeSegments(stored)).toHaveLength(1);
      expect(stored === storedName(other)).toBe(Buffer.from(one).equals(Buffer.from(other)));
    }),
    { numRuns: 1000 },
  );
});

test("escaped bytes come back as they were", () => {
  fc.assert(
    fc.property(anyName, (name) => {
      expect(nameBytes(escapeBytes(name)).equals(Buffer.from(name))).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test("an ordinary name stays as it is, and one that is no UTF-8 is readable", () => {
  expect(storedName(Buffer.from("größe 100%.txt"))).toBe("größe 100%.txt");
  expect(storedName(Buffer.from([0x61, 0xff, 0x62]))).toBe("a=FFb");
  expect(storedName(Buffer.from("a=FFb"))).toBe("a=3DFFb");
});

test("a name too long for a store keeps its beginning and a hash", () => {
  const long = storedName(Buffer.from("é:".repeat(127)));
  expect(long).toMatch(/^(?:é:){32}=~[0-9a-f]{16}$/u);
  expect(long).not.toBe(storedName(Buffer.from(`${"é:".repeat(126)}x`)));
});

test("a path is split at slashes into its names and joined again", () => {
  expect(splitPath(Buffer.from("./a//b/./c/")).map(String)).toEqual(["a", "b", "c"]);
  expect(splitPath(Buffer.from("a/../b")).map(String)).toEqual(["a", "..", "b"]);
  expect(joinNames([Buffer.from("a"), Buffer.from("b")]).toString()).toBe("a/b");
});
