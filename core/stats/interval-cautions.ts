import { exactSum } from "./exact-sum.ts";
import type { TaskRate } from "./task-interval.ts";

/** Fewer tasks than this say little about others, whatever the formula (statistics D4). */
export const FEW_TASKS = 10;
/**
 * With fewer passes, or fewer failures, than this in all (in tasks' worths) the interval over tasks can
 * cover less than it says: docs/statistics.md has the simulation.
 */
export const FEW_OUTCOMES = 5;
/** Fewer trials of a task are a noisy number (spec 1.10). */
export const FEW_TRIALS = 3;

/** Why a reader should trust an interval over tasks less than it looks. */
export type Caution = "one-task" | "few-tasks" | "equal-tasks" | "few-outcomes" | "few-trials";

/** What holds of these tasks, in this order. */
export function cautionsOf(tasks: readonly TaskRate[]): Caution[] {
  if (tasks.length === 0) return [];
  const passed = exactSum(tasks.map(({ rate }) => rate));
  const [first] = tasks;
  const holds: Record<Caution, boolean> = {
    "one-task": tasks.length === 1,
    "few-tasks": tasks.length > 1 && tasks.length < FEW_TASKS,
    "equal-tasks": tasks.length > 1 && tasks.every(({ rate }) => rate === first?.rate),
    "few-outcomes": tasks.length >= FEW_TASKS && hasFewOutcomes(passed, tasks.length),
    "few-trials": tasks.some(({ trials }) => trials < FEW_TRIALS),
  };
  const order: readonly Caution[] = [
    "one-task",
    "few-tasks",
    "equal-tasks",
    "few-outcomes",
    "few-trials",
  ];
  return order.filter((caution) => holds[caution]);
}

function hasFewOutcomes(passed: number, tasks: number): boolean {
  return Math.min(passed, tasks - passed) < FEW_OUTCOMES;
}
