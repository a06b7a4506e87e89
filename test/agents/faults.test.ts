import pLimit from "p-limit";
import { describe, expect, test } from "vitest";
import { checkCell } from "./check-cell.ts";
import { FAULTS, runCell, SHORT_LIMITS, SHORT_LIMIT_SEC } from "./provider-faults.ts";
import { CI_AGENTS } from "./trial-scene.ts";

const CELLS = CI_AGENTS.flatMap((agent) =>
  FAULTS.map((fault) => ({ agent, fault, name: agent.agent, what: fault.name })),
);

/** The two agents take a second of CPU each and mostly wait. */
const atOnce = pLimit(5);

describe.concurrent("a provider that fails for ever", () => {
  test.for(CELLS)(
    "with $what under $name has its outcome, within its limits",
    async ({ agent, fault }) => {
      const wish = { agent, fault, limitSec: SHORT_LIMIT_SEC, limits: SHORT_LIMITS };
      const cell = await atOnce(async () => await runCell(wish));
      checkCell(cell, fault, SHORT_LIMITS.failuresInRow);
      expect(cell.agentSec).toBeLessThan(SHORT_LIMIT_SEC);
    },
  );
});
