import { expect, test } from "vitest";
import { renderReportCsv } from "../../../core/report/render-report-csv.ts";
import { renderReport } from "../../../core/report/render-report.ts";
import { renderReportRc1 } from "../../../core/report/render-report-rc1.ts";
import { renderWriteUp } from "../../../core/report/render-write-up.ts";
import { formatRate } from "../../../core/report/report-texts.ts";
import type { RecordWish } from "../results/a-record.ts";
import { aCard, aReportJob, plannedOf, reportOf } from "./report-builders.ts";

test("errored and unscored trials leave the score's denominator, and never the planned one (C-5)", () => {
  const { group, text } = reportOf([
    { taskName: "a", reward: 1 },
    { taskName: "b", reward: 1 },
    { taskName: "c", unscored: "no_verdict" },
    { taskName: "d", unscored: "infra_failure" },
    { taskName: "e", unscored: "verifier_timeout" },
  ]);
  expect(group.counts).toMatchObject({ planned: 5, scored: 2, passed: 2, failed: 0 });
  expect(group.views.scored.pass_rate).toBe(1);
  expect(group.views.planned).toMatchObject({ pass_rate: 0.4, lowest: 0.4, highest: 1 });
  expect(text).toContain("; coverage 40%: 2 of 5 planned trials have a score.");
  expect(text).toContain("between 40% and 100% did, whatever the missing ones would have been");
  expect(text).toContain(
    "- 1 unscored, verifier timed out (infrastructure): e\\_\\_00000001".replaceAll("\\_", "_"),
  );
});

test("a pass beside two dead attempts is 100% of the scored and 33% to 100% of the planned (C-21)", () => {
  const { group } = reportOf([
    { taskName: "a", reward: 1 },
    { taskName: "b", unscored: "timeout" },
    { taskName: "c", unscored: "timeout" },
  ]);
  expect(group.views.scored.pass_rate).toBe(1);
  expect(group.views.planned.lowest).toBeCloseTo(1 / 3, 12);
  expect(group.views.planned.highest).toBe(1);
});

test.each([
  [
    "all void",
    [
      { taskName: "a", unscored: "infra_failure" },
      { taskName: "b", unscored: "verifier_failure" },
    ],
  ],
  ["all stopped by the budget", [{ taskName: "a", unscored: "budget_stopped" }]],
] as const)(
  "a job whose trials are %s has no score, no interval and a coverage of 0%%",
  (_, records) => {
    const { group, text, card } = reportOf(records);
    expect(group).toMatchObject({ score: null, score_95: null, mean_reward: null, pass_at_k: [] });
    expect(text).toContain("0 passed (no trial has a score), mean reward unknown");
    expect(text).toContain("; coverage 0%: 0 of ");
    expect(renderWriteUp(card)).toContain("planned trials has a score.");
    expect(renderReportRc1(card)).toContain("mean reward unknown");
  },
);

test("a planned trial that never started is named, and so is one that the budget stopped", () => {
  const { group, text } = reportOf(
    [
      { taskName: "a", reward: 1 },
      { taskName: "b", unscored: "budget_stopped" },
    ],
    {
      planned: plannedOf("a", "b", "c"),
    },
  );
  expect(group.counts).toMatchObject({ planned: 3, scored: 1, stopped: 1, never_started: 1 });
  expect(text).toContain("- 1 stopped by a budget or an interrupt: b__00000001");
  expect(text).toContain("- 1 never started: c");
});

function repeatOf(repeat: number, second: RecordWish) {
  return aReportJob({
    path: `jobs/x/trial-0${String(repeat)}/j`,
    repeat,
    planned: plannedOf("a", "b"),
    records: [
      { taskName: "a", reward: 1 },
      { taskName: "b", ...second },
    ],
  });
}

test("a sweep that money ended has its score on the complete repeats too (D8)", () => {
  const card = aCard([repeatOf(1, { reward: 0 }), repeatOf(2, { unscored: "budget_stopped" })]);
  expect(card.groups[0]).toMatchObject({
    counts: { scored: 3, planned: 4, stopped: 1 },
    complete_repeats: { repeats: 1, of: 2, scored: 2, passed: 1, score: 0.5 },
  });
  expect(renderReport(card)).toContain(
    "On the 1 of 2 repeats that are complete: 1 of 2 trials passed, 50%, 95% interval 0% to 100% over the tasks.",
  );
  expect(aCard([repeatOf(1, { reward: 0 })]).groups[0]?.complete_repeats).toBeNull();
});

test("one task, two tasks, all passed, all failed and one odd reward have the intervals they can have", () => {
  expect(reportOf([{ reward: 1 }]).group.score_95).toMatchObject({ method: "wilson-trials" });
  expect(reportOf([{ reward: 1 }]).text).toContain("Warning: one task says nothing about others.");
  const two = reportOf([
    { taskName: "a", reward: 1 },
    { taskName: "b", reward: 0 },
  ]).group;
  expect(two.score_95).toMatchObject({ low: 0, high: 1, method: "enumerated" });
  const none = reportOf([
    { taskName: "a", reward: 0 },
    { taskName: "b", reward: 0 },
  ]).group;
  expect(none.score_95).toMatchObject({ low: 0, method: "wilson-tasks" });
  expect(none.score_95?.high).toBeGreaterThan(0.6);
  const half = reportOf([
    { taskName: "a", reward: 1 },
    { taskName: "b", reward: 0.5 },
  ]);
  expect(half.group).toMatchObject({ score: 0.5, mean_reward: 0.75 });
  expect(half.text).toContain("| b | 1 | 0 | 0% | 0% to 79% | 0.50 |  |");
});

test("tasks with different numbers of trials count alike, and the report says that they differ", () => {
  const repeats = [1, 2].map((repeat) =>
    aReportJob({
      path: `jobs/x/trial-0${String(repeat)}/j`,
      repeat,
      records: [
        { taskName: "a", reward: 1 },
        repeat === 1 ? { taskName: "b", reward: 0 } : { taskName: "b", unscored: "infra_failure" },
      ],
    }),
  );
  const card = aCard(repeats);
  expect(card.groups[0]).toMatchObject({ score: 0.5, counts: { scored: 3, planned: 4 } });
  expect(card.groups[0]?.pass_at_k.map(({ k, tasks }) => [k, tasks])).toEqual([[1, 2]]);
  expect(renderReport(card)).toContain("Warning: tasks have different numbers of scored trials.");
});

test("a name that would be Markdown, HTML or a terminal's command is written out", () => {
  const { text } = reportOf([{ taskName: "a|b<script>[x](y)\u001b[2J", reward: 1 }]);
  expect(text).toContain("| a\\|b\\<script\\>\\[x\\](y)\\\\x1b\\[2J |");
  expect(text).not.toContain("\u001b");
});

test("a write-up shows hostile names, and those that every object has, as they are", () => {
  const { card } = reportOf(
    [
      { taskName: "a\u001b[2J", agent: "constructor", model: "x/constructor", reward: 1 },
      { taskName: "b\nPer task: b 1/1.", agent: "constructor", model: "x/constructor", reward: 0 },
    ],
    {
      evaluation: {
        config: { environment: "toString" },
        settings: { agent_versions: { valueOf: "1.0" } },
      },
    },
  );
  const text = renderWriteUp(card);
  expect(text).not.toContain("\u001b");
  expect(text).toContain("Per task: a\\x1b[2J 1/1, b\\nPer task: b 1/1. 0/1.");
  expect(text).toContain("constructor (valueOf 1.0) on x/constructor, ");
  expect(text).toContain(" on toString; ");
  expect(text).toContain("; x/constructor has no price");
});

test("CSV has a row a trial, and a text that a spreadsheet would run is none there", () => {
  const { card } = reportOf([
    { taskName: '=cmd|"x"', reward: 0.5 },
    { taskName: "b", unscored: "infra_failure" },
  ]);
  const lines = renderReportCsv(card).split("\r\n");
  expect(lines[0]).toMatch(/^setting,agent,model,path,task_name,repeat,/u);
  expect(lines[1]).toContain('"\'=cmd|""x""",,1,1,0.5,failed,completed,,,,');
  expect(lines[2]).toContain("b,,1,1,,errored,errored,,,infrastructure,infra_failure,");
  expect(lines).toHaveLength(4);
});

test("percents claim none or all only where it is so", () => {
  expect([0, 0.001, 0.005, 0.345, 0.9949, 0.9999, 1].map(formatRate)).toEqual([
    "0%",
    "<1%",
    "1%",
    "35%",
    "99%",
    ">99%",
    "100%",
  ]);
});
