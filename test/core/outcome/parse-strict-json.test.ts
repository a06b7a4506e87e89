import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_JSON_DEPTH, parseStrictJson } from "../../../core/outcome/parse-strict-json.ts";

function refusal(text: string): string | null {
  const parsed = parseStrictJson(text);
  return "refused" in parsed ? parsed.refused.reason : null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function nested(levels: number): string {
  return "[".repeat(levels) + "]".repeat(levels);
}

test("reads whatever JSON.stringify writes", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.boolean(), (value, indented) => {
      const text = JSON.stringify(value, null, indented ? 2 : 0);
      const expected: unknown = JSON.parse(
        text.replaceAll(/(?<=^|[:[,\s])-0(?=$|[\],}\s])/gu, "0"),
      );
      expect(parseStrictJson(text)).toEqual({ ok: { value: expected, nonFinite: null } });
    }),
  );
});

test("accepts no text that JSON.parse refuses, but for Python's NaN and Infinity", () => {
  const alphabet = fc.constantFrom(...'{}[]",:0123456789.eE+- \n\tanulrtfs\\u/\u0001'.split(""));
  fc.assert(
    fc.property(fc.array(alphabet, { maxLength: 12 }), (letters) => {
      const text = letters.join("");
      expect(refusal(text) !== null || isJson(text)).toBe(true);
    }),
    { numRuns: 5000 },
  );
});

test("a key that stands twice is refused at every depth, however it is spelled", () => {
  expect(refusal('{"reward": 0, "reward": 1}')).toBe("1:15: a key stands twice");
  expect(refusal('{"a": {"b": 1,\n "\\u0062": 2}}')).toContain("2:");
  expect(refusal('{"a": {"b": 1}, "c": {"b": 2}}')).toBeNull();
});

test.each(["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])(
  "%s is read and reported",
  (word) => {
    expect(parseStrictJson(`{"a": {"b": [0, ${word}]}}`)).toMatchObject({
      ok: { nonFinite: "a.b.1" },
    });
  },
);

test.each([
  '{"reward": 1.0,}',
  "{'reward': 1}",
  "{reward: 1}",
  '{"reward": 01}',
  '{"reward": +1}',
  '{"reward": .5}',
  '{"reward": 1.}',
  '{"reward": 0x1}',
  '{"reward": 1} {"reward": 0}',
  '{"reward": 1',
  '{"a": "\n"}',
  '{"a": "\\x"}',
  "[1,]",
  "nan",
  "-NaN",
  "True",
  "",
  "\uFEFF{}",
  "// note\n{}",
])("refuses %j", (text) => {
  expect(refusal(text)).toMatch(/^\d+:\d+: /u);
});

test("nesting is followed to the limit and refused beyond it, a million levels included", () => {
  expect(refusal(nested(MAX_JSON_DEPTH))).toBeNull();
  expect(refusal(nested(MAX_JSON_DEPTH + 1))).toContain("nesting");
  expect(refusal("[".repeat(1_000_000))).toContain("nesting");
});

test("a __proto__ key stays a mere key", () => {
  const parsed = parseStrictJson('{"__proto__": {"reward": 1}, "a": 1}');
  if ("refused" in parsed) throw new Error(parsed.refused.reason);
  expect(Object.keys(Object(parsed.ok.value))).toEqual(["__proto__", "a"]);
  expect(Object.getPrototypeOf(parsed.ok.value)).toBe(Object.prototype);
});
