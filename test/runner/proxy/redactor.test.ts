import * as fc from "fast-check";
import { expect, test } from "vitest";
import { recordBody } from "../../../runner/proxy/record-body.ts";
import { Redactor } from "../../../runner/proxy/redact/redactor.ts";
import { secretForms } from "../../../runner/proxy/redact/secret-encodings.ts";
import { PLACEHOLDER } from "../../../runner/proxy/redact/secret-shapes.ts";

const SECRET = 'kX9/of+the=provider "é"';
const redactor = new Redactor([SECRET]);
const LIMITS = { maxStringChars: 1000, maxBodyChars: 100_000 };

const secret = fc.string({ unit: "grapheme-ascii", minLength: 12, maxLength: 60 });

test("a known secret is found in every encoding, wherever in a text it stands (C-58)", () => {
  fc.assert(
    fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
      const own = new Redactor([value]);
      const bytes = Buffer.from(before + value + after, "utf8");
      const core = Buffer.from(value, "utf8");
      for (const text of [
        before + value + after,
        JSON.stringify({ nested: JSON.stringify(before + value + after) }),
        encodeURIComponent(value),
        core.toString("hex"),
        core.toString("hex").toUpperCase(),
        bytes.toString("base64"),
        bytes.toString("base64url"),
        Array.from(value).toReversed().join(""),
      ])
        expect(own.knownIn(text)).toContain(PLACEHOLDER);
    }),
    { numRuns: 200 },
  );
});

test("no form of a secret is left, in keys, values and at any depth", () => {
  const forms = secretForms([SECRET]);
  const value = {
    [`x${SECRET}`]: forms,
    deep: [[{ text: forms.join("|") }]],
  };
  const text = JSON.stringify(redactor.value(value));
  for (const form of forms) expect(text).not.toContain(form);
  expect(text).toContain("***REDACTED_KEY_1***");
});

test.each([
  "sk-ant-api03-abcdefghijkl",
  "sk-proj-abcDEFghijkl1234",
  "sk-abcdefghijklmnop",
  "sk-or-v1-0123456789ab",
  "sk-benchflow-abcdefghijkl",
  `AIzaSy${"a".repeat(33)}`,
  "AKIAIOSFODNN7EXAMPLE",
  `ghp_${"a".repeat(36)}`,
  `github_pat_${"a".repeat(30)}`,
  "xoxb-123456789012-abc",
  `gsk_${"a".repeat(30)}`,
  `xai-${"a".repeat(30)}`,
  `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.${"a".repeat(43)}`,
  "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----",
])("a key of the shape %s is redacted (C-58)", (key) => {
  const text = redactor.text(`the key is ${key} and no more`);
  expect(text).toContain(PLACEHOLDER);
  expect(text).not.toContain(key.slice(8));
  expect(text.endsWith(" and no more")).toBe(true);
});

test.each([
  ["x-api-key: abcdefgh12345", `x-api-key: ${PLACEHOLDER}`],
  ["Authorization: Bearer abcdefgh12345", `Authorization: Bearer ${PLACEHOLDER}`],
  [String.raw`{\"api_key\":\"abcdefgh12345\"}`, String.raw`{\"api_key\":\"***REDACTED***\"}`],
  ["export GITHUB_TOKEN=abcdefgh12345", `export GITHUB_TOKEN=${PLACEHOLDER}`],
  ["postgres://user:hunter22@db/x", `postgres://user:${PLACEHOLDER}@db/x`],
  ["https://x/y?access_token=abcdefgh&z=1", `https://x/y?access_token=${PLACEHOLDER}&z=1`],
])("%s loses its secret and keeps its name (C-58)", (text, expected) => {
  expect(redactor.text(text)).toBe(expected);
});

test.each([
  "max_tokens: 32000",
  "const token = readToken(stream);",
  "the risk-averse task-runner sk-ip",
  "git commit 0123456789abcdef0123456789abcdef01234567",
  "https://example.com/path?x=1",
])("%s holds no secret and stays", (text) => {
  expect(redactor.text(text)).toBe(text);
});

test("a field that holds a secret by its name is redacted, counts and log probabilities are not", () => {
  const value = {
    authorization: "abc",
    GITHUB_TOKEN: "x",
    max_tokens: 5,
    usage: { total_tokens: 7 },
    logprobs: [{ token: "hello", logprob: -0.1 }],
    password: "p",
  };
  expect(redactor.value(value)).toEqual({
    authorization: PLACEHOLDER,
    GITHUB_TOKEN: PLACEHOLDER,
    max_tokens: 5,
    usage: { total_tokens: 7 },
    logprobs: [{ token: "hello", logprob: -0.1 }],
    password: PLACEHOLDER,
  });
});

const noise = fc.constantFrom(
  "sk-",
  "ant-",
  "abcdefghijkl",
  "AKIA",
  "IOSFODNN7EXAMPLE",
  "eyJ",
  ".",
  "TOKEN=",
  '"',
  "\\",
  " ",
  ":",
  "=",
  "://",
  "u:p@",
  "?sig=",
  "Bearer ",
  "api_key",
  "-----BEGIN PRIVATE KEY-----",
  "-----END PRIVATE KEY-----",
  "é",
  SECRET,
  "*",
);

test("redacting twice is redacting once", () => {
  fc.assert(
    fc.property(fc.array(noise, { maxLength: 40 }), (parts) => {
      const once = redactor.text(parts.join(""));
      expect(redactor.text(once)).toBe(once);
      expect(once).not.toContain(SECRET);
    }),
    { numRuns: 500 },
  );
});

test.each([
  "sk-proj-",
  "eyJ",
  "-----BEGIN PRIVATE KEY-----",
  "TOKEN=",
  "http://a:",
  "sk-ant",
  "api_key ",
  "A",
])("half a megabyte of %j is done in time that grows with its length only", (part) => {
  const text = part.repeat(500_000 / part.length);
  const start = performance.now();
  redactor.text(text);
  expect(performance.now() - start).toBeLessThan(5000);
});

test("nesting without end is cut, not followed", () => {
  let deep: unknown = SECRET;
  for (let depth = 0; depth < 5000; depth += 1) deep = [deep];
  const text = JSON.stringify(redactor.value(deep));
  expect(text).toContain("nested deeper than 64 levels");
  expect(text).not.toContain(SECRET);
});

test("a long string keeps both ends and tells what is gone, and no secret is halved by the cut", () => {
  for (let shift = 0; shift < 60; shift += 3) {
    const text =
      "a".repeat(490 + shift) + SECRET + "b".repeat(20_000) + SECRET + "c".repeat(480 + shift);
    const { body, droppedBytes } = recordBody(
      { value: { text }, sizeChars: text.length },
      redactor,
      LIMITS,
    );
    const kept = JSON.stringify(body);
    expect(kept).toMatch(/\[\d+ bytes dropped\]/u);
    expect(droppedBytes).toBeGreaterThan(19_000);
    for (let length = 8; length <= SECRET.length; length += 1) {
      expect(kept).not.toContain(SECRET.slice(0, length));
      expect(kept).not.toContain(SECRET.slice(-length));
    }
  }
});

test("a body that is too large as a whole leaves a mark of its size", () => {
  const body = Array.from({ length: 5000 }, () => "x".repeat(30));
  const recorded = recordBody({ value: body, sizeChars: 150_000 }, redactor, LIMITS);
  expect(recorded.body).toEqual({ dropped_bytes: recorded.droppedBytes });
  expect(recorded.droppedBytes).toBe(JSON.stringify(body).length);
});
