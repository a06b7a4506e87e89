import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  doubledKey,
  jsonMembers,
  stringSpan,
  withMembers,
} from "../../../runner/proxy/json-members.ts";

const spaced = fc
  .tuple(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 6 }), fc.constantFrom(0, 1, 2, "\t"))
  .map(([value, indent]) => ({ value, text: ` ${JSON.stringify(value, null, indent)}\n` }));

test("the members found are those of the object, each at its place", () => {
  fc.assert(
    fc.property(spaced, ({ value, text }) => {
      const members = jsonMembers(text);
      expect(members.map(({ key }) => key)).toEqual(Object.keys(value));
      for (const { key, valueStart, valueEnd } of members)
        expect(JSON.parse(text.slice(valueStart, valueEnd))).toEqual(
          JSON.parse(JSON.stringify(value[key])),
        );
    }),
    { numRuns: 300 },
  );
});

test("an edit changes its member and no other byte", () => {
  fc.assert(
    fc.property(spaced, fc.string(), fc.jsonValue(), ({ value, text }, key, added) => {
      const edited = withMembers(text, new Map([[key, JSON.stringify(added)]]));
      const expected = { ...value, [key]: added };
      expect(JSON.parse(edited)).toEqual(JSON.parse(JSON.stringify(expected)));
      const kept = key in value ? "" : text.trimEnd().slice(0, -1);
      expect(edited.startsWith(kept)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test("numbers that JavaScript cannot hold and odd escapes stay as they are", () => {
  const text = '{"a":12345678901234567890,"b":1.0,"c":"\\u00e9\\\\\\"","model":"x"}';
  expect(withMembers(text, new Map([["model", '"y"']]))).toBe(text.replace('"x"', '"y"'));
});

test("a key that stands twice is found, however it is escaped", () => {
  expect(doubledKey(jsonMembers('{"model":1,"x":{"model":2},"y":[{"model":3}]}'))).toBeNull();
  expect(doubledKey(jsonMembers('{"model":1,"mod\\u0065l":2}'))).toBe("model");
});

test("a string is found by its path, and only a string", () => {
  const text = '{"x":{"model":"no"},"message":{"content":"\\"model\\":\\"no\\"","model":"yes"}}';
  const span = stringSpan(text, ["message", "model"]);
  expect(text.slice(span?.start, span?.end)).toBe('"yes"');
  expect(stringSpan(text, ["model"])).toBeNull();
  expect(stringSpan('{"model":7}', ["model"])).toBeNull();
  expect(stringSpan("[1]", ["model"])).toBeNull();
});

test("deep nesting costs no stack", () => {
  const deep = "[".repeat(200_000) + "]".repeat(200_000);
  expect(jsonMembers(`{"a":${deep},"b":1}`).map(({ key }) => key)).toEqual(["a", "b"]);
});
