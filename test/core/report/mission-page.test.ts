import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { RunCard } from "../../../core/model/run-card.ts";
import { renderReport } from "../../../core/report/render-report.ts";
import { renderReportRc1 } from "../../../core/report/render-report-rc1.ts";
import { renderWriteUp } from "../../../core/report/render-write-up.ts";
import { aCard, missionControls, missionRepeats, repairCafe } from "./report-builders.ts";

function readFixture(name: string): string {
  return readFileSync(new URL(`../../fixtures/${name}`, import.meta.url), "utf8");
}

test("the page's report file comes out byte for byte under rc1's rules", () => {
  expect(renderReportRc1(aCard([repairCafe()]))).toBe(readFixture("mission-report-rc1.md"));
});

test("the page's write-up comes out byte for byte from its nine trials and their controls", () => {
  const card = aCard([...missionRepeats(), ...missionControls()]);
  expect(renderWriteUp(card)).toBe(readFixture("mission-write-up.txt"));
});

test("rc2's first line counts by the scoring rule, with the interval over tasks and the rule after it", () => {
  const card = aCard([...missionRepeats(), ...missionControls()], { name: "no-skills" });
  const lines = renderReport(card).split("\n");
  expect(lines.slice(0, 4)).toEqual([
    "# Report: no-skills",
    "",
    "9 trials of 3 tasks, claude-agent-acp on xiaomi/mimo-v2.6-flash: 6 passed (67%, 95% interval 0% to 100% " +
      "over the 3 tasks), mean reward 0.67, 0 with an error.",
    "Rule: a trial passes when its reward is exactly 1; a task's rate is of its scored trials, the score is the mean " +
      "of the tasks' rates, and the interval resamples the tasks, every resample counted, at 2.5% on each side. " +
      "Wilson's interval, if the 9 trials were independent, which trials of one task are not: 35% to 88%.",
  ]);
  expect(RunCard.parse(card)).toEqual(card);
});

test("the whole rc2 report of the page's trials is as it was looked at", () => {
  const card = aCard([...missionRepeats(), ...missionControls()], { name: "no-skills" });
  expect(renderReport(card)).toBe(readFixture("mission-report-rc2.md"));
});
