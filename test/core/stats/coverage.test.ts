import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Cell, CELLS, SEED, simulateCell } from "../../bench/simulate-coverage.ts";

const IS_SOAK = process.env["BENCH_TEST_SOAK"] !== undefined;
const FILE = new URL("../../bench/results/coverage.json", import.meta.url);

interface Recorded {
  readonly seed: number;
  readonly runs: number;
  readonly cells: readonly Cell[];
}

/** 95% with room for the simulation's own error, as the promise has it. */
function isCovered({ coverage, error }: Cell): boolean {
  return coverage + error >= 0.93;
}

/** The report warns there: then a cell may cover less, and docs/statistics.md lists it. */
function isWarnedOf({ warned }: Cell): boolean {
  return warned >= 0.9;
}

test("the recorded simulation has every cell, and each covers 93% or is warned of and documented", () => {
  const recorded = JSON.parse(readFileSync(FILE, "utf8")) as Recorded;
  expect(recorded).toMatchObject({ seed: SEED, runs: 5000 });
  expect(recorded.cells).toHaveLength(CELLS.length);
  const docs = readFileSync(new URL("../../../docs/statistics.md", import.meta.url), "utf8");
  const under = recorded.cells.filter((cell) => !isCovered(cell));
  expect(under.filter((cell) => !isWarnedOf(cell))).toEqual([]);
  expect(under.map(documentedRow).filter((row) => !docs.includes(row))).toEqual([]);
});

function documentedRow({ design, tasks, mean, coverage }: Cell): string {
  return `| ${design} | ${tasks} | ${mean} | ${(coverage * 100).toFixed(1)}% |`;
}

function isRun({ tasks, mean }: { readonly tasks: number; readonly mean: number }): boolean {
  return IS_SOAK || (tasks === 20 && (mean === 0.1 || mean === 0.5));
}

test("the simulation gives what is recorded: in the soak every cell, else the quick ones in small", () => {
  const recorded = JSON.parse(readFileSync(FILE, "utf8")) as Recorded;
  const found = CELLS.filter(isRun).map((cell) => simulateCell(cell, IS_SOAK ? 5000 : 60));
  const before = recorded.cells.filter(isRun);
  expect(found.map(nameOf)).toEqual(before.map(nameOf));
  const rooms = found.map((cell, index) =>
    Math.abs(cell.coverage - (before[index]?.coverage ?? NaN)),
  );
  expect(Math.max(...rooms)).toBeLessThan(IS_SOAK ? 1e-9 : 0.12);
}, 7_200_000);

function nameOf({ design, tasks, mean }: Cell | (typeof CELLS)[number]): string {
  return `${design}, ${tasks} tasks, ${mean}`;
}
