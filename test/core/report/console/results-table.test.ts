import { expect, test } from "vitest";
import { renderTable } from "../../../../core/report/console/results-table.ts";

test("columns are as wide as their widest cell, counted in characters", () => {
  expect(
    renderTable([
      ["Task", "Reward"],
      ["日本語", "1"],
      ["😀", ""],
    ]),
  ).toEqual(["Task  Reward", "日本語   1", "😀"]);
});

test("a cell with an escape sequence or a line break stays one visible cell", () => {
  expect(
    renderTable([
      ["A", "B"],
      ["x\u001b[2J\ny", "1"],
    ]),
  ).toEqual(["A            B", String.raw`x\x1b[2J\ny  1`]);
});
