// Simulates how often the printed 95% interval over tasks holds the true rate, and writes what
// docs/statistics.md and the coverage test quote: `tsx test/bench/coverage.ts [RUNS] [OUT]`.
import { writeFileSync } from "node:fs";
import { CELLS, SEED, simulateCell } from "./simulate-coverage.ts";

const runs = Number(process.argv[2] ?? 5000);
const out = process.argv[3] ?? "test/bench/results/coverage.json";
const cells = CELLS.map((cell) => {
  const simulated = simulateCell(cell, runs);
  console.log(JSON.stringify(simulated));
  return simulated;
});
writeFileSync(out, `${JSON.stringify({ bench: "coverage", seed: SEED, runs, cells }, null, 2)}\n`);
