import pLimit from "p-limit";
import { afterAll, describe, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../runner/proxy/proxy-options.ts";
import { checkCell } from "./check-cell.ts";
import { type CellLimits, keepCells } from "./fault-table.ts";
import {
  FAULTS,
  type FaultCell,
  runCell,
  SHORT_LIMITS,
  SHORT_LIMIT_SEC,
} from "./provider-faults.ts";
import { AGENT_MODELS } from "./trial-scene.ts";

const CELLS = AGENT_MODELS.flatMap((agent) =>
  FAULTS.map((fault) => ({ agent, fault, name: agent.agent, what: fault.name })),
);

/** Of the agent's work, with the limits that a run has. A provider that hangs for 120 s a try is left then. */
const DEFAULT_SEC: Readonly<Record<string, number>> = { "429": 600, "hang before headers": 300 };

/** What a limit takes to end an agent, and what its requests were held for. */
const GRACE_SEC = 60;

const DEFAULT_CELLS = CELLS.flatMap((cell) => {
  const limitSec = DEFAULT_SEC[cell.what];
  return limitSec === undefined ? [] : [{ ...cell, limitSec }];
});

/** Starts cost CPU, and the waits of minutes do not. */
const AT_ONCE = { short: pLimit(2), default: pLimit(3) };

const cells: Record<CellLimits, FaultCell[]> = { short: [], default: [] };
afterAll(async () => {
  for (const limits of ["short", "default"] as const) await keepCells(limits, cells[limits]);
});

describe.concurrent("a provider that fails for ever", () => {
  test.for(CELLS)(
    "with $what under $name has its outcome, within its limits",
    async ({ agent, fault }) => {
      const wish = { agent, fault, limitSec: SHORT_LIMIT_SEC, limits: SHORT_LIMITS };
      const cell = await AT_ONCE.short(async () => await runCell(wish));
      cells.short.push(cell);
      checkCell(cell, fault, SHORT_LIMITS.failuresInRow);
      expect(cell.agentSec).toBeLessThan(SHORT_LIMIT_SEC);
    },
  );
});

describe.concurrent("with the limits that a run has, a provider", () => {
  test.for(DEFAULT_CELLS)(
    "with $what under $name has its outcome within $limitSec s of work",
    async ({ agent, fault, limitSec }) => {
      const cell = await AT_ONCE.default(async () => await runCell({ agent, fault, limitSec }));
      cells.default.push(cell);
      checkCell(cell, fault, DEFAULT_LIMITS.failuresInRow);
      expect(cell.agentSec).toBeLessThan(limitSec + GRACE_SEC);
    },
  );
});
