import { cautionsOf } from "../../core/stats/interval-cautions.ts";
import { seededDraws } from "../../core/stats/seeded-draws.ts";
import { taskInterval } from "../../core/stats/task-interval.ts";

/** How tasks differ and how often each is tried. */
interface Design {
  readonly name: string;
  readonly trials: number;
  /** How alike trials of one task are: 0, every task has the same rate. */
  readonly correlation: number;
}

export interface Cell {
  readonly design: string;
  readonly tasks: number;
  readonly mean: number;
  readonly runs: number;
  readonly covered: number;
  readonly coverage: number;
  /** 1.96 standard errors of the simulation. */
  readonly error: number;
  readonly mean_width: number;
  /** Share of runs in which every task had one rate, so that Wilson's interval stood in. */
  readonly all_equal: number;
  /** Share of runs in which the report warns of few passes or few failures. */
  readonly warned: number;
}

const DESIGNS: readonly Design[] = [
  { name: "Bernoulli, 1 trial", trials: 1, correlation: 0 },
  { name: "beta-binomial, 3 trials, ICC 0", trials: 3, correlation: 0 },
  { name: "beta-binomial, 3 trials, ICC 0.3", trials: 3, correlation: 0.3 },
  { name: "beta-binomial, 3 trials, ICC 0.7", trials: 3, correlation: 0.7 },
];
const MEANS = [0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95];
const TASKS = [20, 50, 200];
export const SEED = 20_261_130;
/** Finer than any count of trials, so that a rate is drawn as exactly as a double holds it. */
const UNIT = 2 ** 31;

/** How many of a task's trials pass, by Pólya's urn, which draws the beta-binomial without its beta. */
function drawPasses(design: Design, mean: number, draw: (bound: number) => number): number {
  const { trials, correlation } = design;
  let passes = 0;
  for (let trial = 0; trial < trials; trial += 1) {
    const weight = correlation === 0 ? Infinity : (1 - correlation) / correlation;
    const rate = weight === Infinity ? mean : (mean * weight + passes) / (weight + trial);
    if (draw(UNIT) < rate * UNIT) passes += 1;
  }
  return passes;
}

/** What a cell simulates. */
interface CellDesign extends Design {
  readonly design: string;
  readonly tasks: number;
  readonly mean: number;
}

/** Every cell of the simulation, in order. */
export const CELLS: readonly CellDesign[] = TASKS.flatMap((tasks) =>
  DESIGNS.flatMap((design) =>
    MEANS.map((mean) => Object.assign({ design: design.name, tasks, mean }, design)),
  ),
);

/** One cell: the interval depends on the sorted counts alone, so equal data is computed once. */
export function simulateCell(design: CellDesign, runs: number): Cell {
  const { tasks, mean } = design;
  const draw = seededDraws(SEED);
  const known = new Map<string, { low: number; high: number; equal: boolean; few: boolean }>();
  const sums = { covered: 0, width: 0, equal: 0, few: 0 };
  for (let run = 0; run < runs; run += 1) {
    const counts = Array.from({ length: tasks }, () => drawPasses(design, mean, draw));
    counts.sort((a, b) => a - b);
    const key = counts.join(",");
    const found = known.get(key) ?? intervalOf(counts, design.trials);
    known.set(key, found);
    // The ends are means of thousands of roundings.
    if (found.low <= mean + 1e-9 && mean - 1e-9 <= found.high) sums.covered += 1;
    sums.width += found.high - found.low;
    sums.equal += Number(found.equal);
    sums.few += Number(found.few);
  }
  const coverage = sums.covered / runs;
  return {
    design: design.name,
    tasks,
    mean,
    runs,
    covered: sums.covered,
    coverage: round(coverage),
    error: round(1.96 * Math.sqrt((coverage * (1 - coverage)) / runs)),
    mean_width: round(sums.width / runs),
    all_equal: round(sums.equal / runs),
    warned: round(sums.few / runs),
  };
}

function round(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}

function intervalOf(counts: readonly number[], trials: number) {
  const rates = counts.map((passes) => ({ rate: passes / trials, trials }));
  const interval = taskInterval(rates);
  if (interval === null) throw new Error("no interval of some tasks");
  const { low, high, method } = interval;
  const few = cautionsOf(rates).includes("few-outcomes");
  return { low, high, equal: method === "wilson-tasks", few };
}
