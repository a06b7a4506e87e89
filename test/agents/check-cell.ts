import { expect } from "vitest";
import type { FaultCell, ProviderFault } from "./provider-faults.ts";

/** Requests of one call that the proxy sends, on faults that another try may change. */
const TRIES = 3;

/**
 * Holds a trial to what its fault must come to: the right class, before its agent's own limit, after no more
 * requests than the proxy allows in a row, with the verifier's reward withheld where it is an outage's.
 */
export function checkCell(
  cell: FaultCell,
  { expected, fault }: ProviderFault,
  failuresInRow: number,
): void {
  const { outcome, category } = cell;
  expect({ outcome, category }).toEqual(expected);
  expect(cell.withheld).toBe(outcome.startsWith("scored") ? null : 1);
  expect(cell.failed).toBeGreaterThan(0);
  if (fault.kind === "context-overflow") return;
  expect(cell.failed).toBeLessThanOrEqual(failuresInRow);
  expect(cell.atProvider).toBeLessThanOrEqual(TRIES * failuresInRow);
}
