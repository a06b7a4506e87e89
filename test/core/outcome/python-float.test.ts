import fc from "fast-check";
import { expect, test } from "vitest";
import {
  formatPythonFloat,
  parsePythonFloat,
  stripPythonWhitespace,
} from "../../../core/outcome/python-float.ts";
import fixture from "../../fixtures/python-floats.json" with { type: "json" };

test.each(fixture.cases)("reads $text as CPython's float() does", ({ text, float }) => {
  const value = parsePythonFloat(text);
  expect(value === null ? null : formatPythonFloat(value)).toBe(float);
});

test.each(fixture.reprs)("prints $value as CPython's repr() does", ({ value, repr }) => {
  expect(formatPythonFloat(Number(value))).toBe(repr);
});

test("what is printed reads back as the same number", () => {
  fc.assert(
    fc.property(fc.double(), (value) => {
      expect(parsePythonFloat(formatPythonFloat(value))).toBe(value);
    }),
  );
});

test("never throws, and a number with a word beside it is no number", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.float({ noNaN: true }), (junk, value) => {
      expect(() => parsePythonFloat(junk)).not.toThrow();
      expect(parsePythonFloat(`${value} x${junk}`)).toBeNull();
    }),
  );
});

test("a byte order mark and a zero-width space are no whitespace", () => {
  expect(stripPythonWhitespace("\uFEFF 1 \u200B")).toBe("\uFEFF 1 \u200B");
});
