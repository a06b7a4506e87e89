import { expect, test } from "vitest";
import { rewardEvents, renderRewardEvents } from "../../../core/outcome/reward-events.ts";

const AT = "2026-11-30T04:40:54.191101";

test("a map of metrics makes BenchFlow's one terminal event", () => {
  expect(rewardEvents({ reward: 0.5, accuracy: 0.75, style: 0.25 }, AT)).toEqual([
    {
      ts: AT,
      type: "terminal",
      source: "verifier",
      value: 0.5,
      tag: "reward",
      step_index: null,
      space: "output",
      granularity: "terminal",
      meta: { accuracy: 0.75, style: 0.25 },
    },
  ]);
});

test("rubric items come first, each with what is left of it as meta", () => {
  const rubric = [
    { name: "clear", score: 0.5, space: "reasoning", step_index: 3, why: "short" },
    { score: 1 },
  ];
  expect(rewardEvents({ reward: 0, rubric }, AT)).toMatchObject([
    {
      type: "process",
      tag: "clear",
      value: 0.5,
      space: "reasoning",
      step_index: 3,
      meta: { why: "short" },
    },
    { type: "process", source: "verifier_rubric", tag: "rubric_1", granularity: "step", meta: {} },
    { type: "terminal", value: 0, meta: {} },
  ]);
});

test("each event is one line, written as the contract's other jsonl files are", () => {
  expect(renderRewardEvents(rewardEvents({ reward: 0.25, reason: "a\nb" }, AT))).toBe(
    `{"ts": "${AT}", "type": "terminal", "source": "verifier", "value": 0.25, "tag": "reward", "step_index": null, "space": "output", "granularity": "terminal", "meta": {"reason": "a\\nb"}}\n`,
  );
});
