import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_REWARD_FILE_BYTES, type RewardFile } from "../../../core/outcome/parse-rewards.ts";
import type { RewardRules } from "../../../core/outcome/validate-rewards.ts";
import { bytes, LENIENT, MISSING, parse, UNIT } from "./parse-reward-files.ts";

test.each([
  "2",
  "-1",
  "1e400",
  "-1e400",
  "10",
  "1abc",
  "1 0",
  "0x1",
  "1,0",
  "nan",
  "85%",
  "１2",
  "1/2",
])("reward text %j is never a reward in [0, 1] (C-24)", (text) => {
  expect(parse(text, null)).toHaveProperty("refused");
  expect(parse(null, `{"reward": "${text}"}`)).toHaveProperty("refused");
  expect(parse(null, `{"reward": ${text}}`)).toHaveProperty("refused");
});

test("a carriage return before the line feed changes nothing, in either file", () => {
  expect(parse("1\r\n", null)).toMatchObject({ ok: { reward: 1 } });
  expect(parse(null, '{\r\n"reward": 1\r\n}\r\n')).toMatchObject({ ok: { reward: 1 } });
});

test("a byte order mark or bytes that are not UTF-8 void the verdict, in either file", () => {
  expect(parse(null, '\uFEFF{"reward": 1}')).toMatchObject({ refused: "invalid" });
  expect(parse("\uFEFF1", null)).toMatchObject({ refused: "invalid" });
  expect(parse(bytes(new Uint8Array([0x31, 0xff])), null)).toMatchObject({ refused: "invalid" });
  expect(parse(bytes(new Uint8Array([0xff, 0xfe, 0x31, 0x00])), null)).toHaveProperty("refused");
  const inText = Buffer.from('{"reward": 1, "reason": "\xff"}', "latin1");
  expect(parse(null, bytes(inText))).toMatchObject({
    message: "Failed to parse rewards from JSON file v/reward.json: not UTF-8",
  });
});

test("minus zero is zero", () => {
  for (const parsed of [parse("-0", null), parse(null, '{"reward": -0.0, "a": -0}')]) {
    expect(parsed).toMatchObject({ ok: { reward: 0 } });
    const values = "ok" in parsed ? Object.values(parsed.ok) : [];
    expect(values.some((value) => Object.is(value, -0))).toBe(false);
  }
});

test("one bad file voids the verdict although the other one is fine (C-25)", () => {
  expect(parse("1", '{"reward": 1, "tests": ["a"]}')).toMatchObject({ refused: "invalid" });
  expect(parse("1", "[1]")).toMatchObject({ refused: "invalid" });
  expect(parse("passed", '{"reward": 1}')).toMatchObject({ refused: "invalid" });
  expect(parse("", '{"reward": 1}')).toMatchObject({ refused: "empty" });
  expect(parse("1", "  \n")).toMatchObject({
    refused: "empty",
    message: "Reward file is empty at v/reward.json",
  });
  const unsafe: RewardFile = { kind: "unsafe", reason: "link" };
  expect(parse(unsafe, '{"reward": 1}')).toMatchObject({
    refused: "unsafe",
    message: "Reward file at v/reward.txt was not read: link",
  });
  expect(parse("1", { kind: "unsafe", reason: "not a regular file" })).toMatchObject({
    refused: "unsafe",
  });
});

test("the two files agree within 1e-9 and no further", () => {
  expect(parse("0.5", '{"reward": 0.5000000009}')).toMatchObject({ ok: { reward: 0.5000000009 } });
  expect(parse("0.5", '{"reward": 0.500000002}')).toMatchObject({
    refused: "conflict",
    message: "reward.json 0.500000002 does not match reward.txt 0.5",
  });
  expect(parse("1", '{"reward": 0}')).toMatchObject({
    message: "reward.json 0.0 does not match reward.txt 1.0",
  });
});

test("the text's reward completes a map of metrics only when no key of it was bad", () => {
  expect(parse("0.5", '{"accuracy": 0.25, "style": 0.75}')).toMatchObject({
    ok: { accuracy: 0.25, style: 0.75, reward: 0.5 },
  });
  expect(parse("0.5", '{"accuracy": 0.25, "n": 9}', LENIENT)).toHaveProperty("refused");
});

test("lenient mode lets score or rewards stand in, and still compares them with the text", () => {
  expect(parse(null, '{"score": 0.4}', LENIENT)).toMatchObject({ ok: { reward: 0.4 } });
  expect(parse(null, '{"rewards": 0.4}', LENIENT)).toMatchObject({ ok: { reward: 0.4 } });
  expect(parse(null, '{"rewards": {"reward": 0.4}}', LENIENT)).toMatchObject({
    ok: { reward: 0.4 },
  });
  expect(parse("1", '{"score": 0.4}', LENIENT)).toMatchObject({ refused: "conflict" });
  expect(parse(null, '{"score": 0.4}')).toHaveProperty("refused");
});

test("lenient mode names each key that it dropped", () => {
  expect(
    parse(null, '{"reward": 1, "done": true, "metrics": {"a": 7, "b": 1}}', LENIENT),
  ).toMatchObject({
    ok: { reward: 1, metrics: { b: 1 } },
    warnings: ["reward JSON keys dropped: 'done', 'metrics.a'"],
  });
});

test("a number that is not finite voids the file wherever it stands and whatever the mode (C-10)", () => {
  for (const rules of [UNIT, LENIENT]) {
    expect(parse(null, '{"reward": 1, "details": {"loss": NaN}}', rules)).toMatchObject({
      message: "Reward JSON file v/reward.json holds a number that is not finite at 'details.loss'",
    });
    expect(parse(null, '{"reward": 1e400}', rules)).toHaveProperty("refused");
    expect(parse(null, '{"reward": Infinity}', rules)).toHaveProperty("refused");
  }
  expect(parse(null, '{"reward": 1, "note": NaN}', LENIENT)).toHaveProperty("refused");
});

test("a task's range widens rewards and metrics but never rubric scores", () => {
  const wide: RewardRules = { ...UNIT, range: [-1, 2] };
  expect(parse("-1", null, wide)).toMatchObject({ ok: { reward: -1 } });
  expect(parse(null, '{"reward": 2, "metrics": {"a": -0.5}, "m": 1.5}', wide)).toHaveProperty("ok");
  expect(parse("2.1", null, wide)).toMatchObject({
    message:
      "Reward text file v/reward.txt must contain a finite numeric reward between -1.0 and 2.0",
  });
  expect(parse(null, '{"reward": 1, "rubric": [{"score": 1.5}]}', wide)).toMatchObject({
    message:
      "Reward JSON file v/reward.json reward JSON returned rewards with invalid rubric item for '0'",
  });
});

test.each([
  ['{"reward":1,"rubric":[{"name":"a","score":0.5,"space":"action","granularity":"step"}]}', true],
  ['{"reward":1,"rubric":[{"score":0.5,"space":"elsewhere"}]}', false],
  ['{"reward":1,"rubric":[{"score":true}]}', false],
  ['{"reward":1,"rubric":{"score":1}}', false],
  ['{"reward":1,"space":"memory","granularity":"terminal"}', true],
  ['{"reward":1,"granularity":"often"}', false],
  ['{"reward":1,"reason":"x","details":[{}],"artifacts":{"a":null},"winner":3}', true],
  ['{"reward":1,"metrics":[1]}', false],
  ['{"reward":1,"aggregate":{"method":"mean"}}', true],
  ['{"reward":1,"aggregate":{"weights":{}}}', false],
  ['{"reward":1,"aggregate":"mean"}', false],
])("structured keys: %s is accepted: %s", (json, accepted) => {
  expect("ok" in parse(null, json)).toBe(accepted);
});

test("a file of 100 MB is refused unread, and so is one byte over the limit", () => {
  const started = performance.now();
  const huge = bytes(new Uint8Array(100 * 1024 * 1024).fill(0x31));
  expect(parse(huge, null)).toMatchObject({ refused: "unsafe" });
  expect(performance.now() - started).toBeLessThan(1000);
  const padded = `1${" ".repeat(MAX_REWARD_FILE_BYTES - 1)}`;
  expect(parse(padded, null)).toMatchObject({ ok: { reward: 1 } });
  expect(parse(`${padded} `, null)).toMatchObject({ refused: "unsafe" });
});

test("a hostile key cannot break a message into lines or make it long", () => {
  const parsed = parse(
    null,
    JSON.stringify({ reward: 1, [`a\n\u001b[31m${"x".repeat(9999)}`]: "no" }),
  );
  if ("ok" in parsed) throw new Error("accepted");
  expect(JSON.stringify(parsed.message)).not.toContain("\\");
  expect(parsed.message.length).toBeLessThan(300);
});

const anyFile = fc.oneof(
  fc.constant(MISSING),
  fc.uint8Array({ maxLength: 40 }).map((raw) => bytes(raw)),
  fc.string({ unit: "binary" }).map((text) => bytes(text)),
  fc.double().map((value) => bytes(String(value))),
  fc.double({ min: 0, max: 1, noNaN: true }).map((value) => bytes(String(value))),
  fc.jsonValue().map((value) => bytes(JSON.stringify(value))),
  fc
    .dictionary(
      fc.constantFrom(
        "reward",
        "score",
        "rewards",
        "metrics",
        "rubric",
        "aggregate",
        "a",
        "details",
      ),
      fc.oneof(fc.double(), fc.jsonValue(), fc.boolean(), fc.constant({ method: "mean" })),
    )
    .map((value) => bytes(JSON.stringify(value))),
);

test("no bytes throw, and no bytes give a reward outside the range", () => {
  const range = fc.tuple(
    fc.double({ min: -5, max: 0, noNaN: true }),
    fc.double({ min: 1, max: 5, noNaN: true }),
  );
  let accepted = 0;
  fc.assert(
    fc.property(anyFile, anyFile, range, fc.boolean(), (text, json, [low, high], lenient) => {
      const parsed = parse(text, json, { range: [low, high], lenient, aggregatePolicy: null });
      if ("refused" in parsed) return;
      accepted += 1;
      expect(parsed.ok.reward).toBeGreaterThanOrEqual(low);
      expect(parsed.ok.reward).toBeLessThanOrEqual(high);
      expect(Object.is(parsed.ok.reward, -0)).toBe(false);
      expect(JSON.parse(JSON.stringify(parsed.ok))).toEqual(parsed.ok);
    }),
    { numRuns: 3000 },
  );
  expect(accepted).toBeGreaterThan(60);
});
