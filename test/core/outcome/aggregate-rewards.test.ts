import { expect, test } from "vitest";
import type { RewardRules } from "../../../core/outcome/validate-rewards.ts";
import { parse, UNIT } from "./parse-reward-files.ts";

test.each([
  [
    '{"metrics":{"a":0.5,"b":1},"aggregate":{"method":"weighted_mean","weights":{"a":3,"b":1}}}',
    0.625,
  ],
  ['{"metrics":{"a":0.5,"b":1},"aggregate":{"method":"weighted-mean"}}', 0.75],
  ['{"a":0.5,"b":1,"aggregate":{"method":"mean"}}', 0.75],
  ['{"a":0.5,"b":1,"aggregate":{"method":"all_pass"}}', 1],
  ['{"a":0.4,"b":1,"aggregate":{"method":"all_pass"}}', 0],
  ['{"a":0.4,"b":1,"aggregate":{"method":"any_pass"}}', 1],
  ['{"a":0.5,"b":1,"aggregate":{"method":"weighted_sum","weights":{"a":0.5,"b":0.5}}}', 0.75],
  ['{"a":0.5,"b":1,"aggregate":{"method":"threshold"}}', 1],
  ['{"a":0.5,"b":1,"aggregate":{"method":"threshold","threshold":0.8}}', 0],
  ['{"a":0.5,"b":1,"aggregate":{"method":"weighted_sum"}}', null],
  ['{"a":0.5,"b":1,"aggregate":{"method":"weighted_sum","weights":{"a":2,"b":2}}}', null],
  ['{"a":0.5,"b":1,"aggregate":{"method":"weighted_mean","weights":{"a":1}}}', null],
  ['{"a":0.5,"aggregate":{"method":"weighted_mean","weights":{"a":1,"c":1}}}', null],
  ['{"a":0.5,"aggregate":{"method":"weighted_mean","weights":{"a":-1}}}', null],
  ['{"a":0.5,"aggregate":{"method":"weighted_mean","weights":{"a":0}}}', null],
  ['{"a":0.5,"aggregate":{"method":"harmonic"}}', null],
  ['{"aggregate":{"method":"mean"}}', null],
])("aggregates: %s gives %s", (json, reward) => {
  const parsed = parse(null, json);
  expect("ok" in parsed && parsed.computed ? parsed.ok.reward : null).toBe(reward);
});

test("a policy of the verifier's document serves files that carry none", () => {
  const rules: RewardRules = {
    ...UNIT,
    aggregatePolicy: { method: "mean", weights: null, threshold: 0.7 },
  };
  expect(parse(null, '{"a": 0, "b": 1}', rules)).toMatchObject({ ok: { reward: 0.5 } });
  expect(parse("1", '{"a": 0, "b": 1}', rules)).toMatchObject({ refused: "conflict" });
});
