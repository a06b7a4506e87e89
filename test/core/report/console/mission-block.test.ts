import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { renderFinalBlock } from "../../../../core/report/console/final-block.ts";
import { renderJobLines } from "../../../../core/report/console/job-lines.ts";
import { renderMatrixLines } from "../../../../core/report/console/run-lines.ts";
import { renderTrialLine } from "../../../../core/report/console/trial-line.ts";
import { groupTrials } from "../../../../core/results/group-trials.ts";
import { aRecord } from "../../results/a-record.ts";

const ELAPSED_SEC = 929.4;

function tokens(totalTokens: number) {
  return { ...aRecord().usage, totalTokens };
}

/** The third repeat of the page, in the order in which its trials ended. */
const ENDED = [
  aRecord({ taskName: "econ-detrending-correlation", toolCalls: 13, usage: tokens(400_000) }),
  aRecord({ taskName: "offer-letter-generator", toolCalls: 14, usage: tokens(304_360) }),
  aRecord({
    taskName: "crystallographic-wyckoff-position-analysis",
    toolCalls: 47,
    usage: tokens(1_000_000),
    rewards: { reward: 0 },
    outcome: { kind: "scored", reward: 0, passed: false, limit: "wall-clock" },
    error: { category: "timeout", message: "Agent prompt exceeded wall-clock budget 900s" },
  }),
];

test("the mission page's block comes out character for character", () => {
  const job = groupTrials(ENDED, null);
  const lines = [
    ...ENDED.map(renderTrialLine),
    ...renderJobLines(job, ELAPSED_SEC),
    ...renderFinalBlock(job, {
      jobDir: "jobs/no-skills/claude-agent-acp/trial-03/2026-11-04__18-24-21",
      elapsedSec: ELAPSED_SEC,
      reused: 0,
    }),
    ...renderMatrixLines([job, job, job], "jobs/no-skills/matrix-summary.json"),
  ];
  const page = new URL("../../../fixtures/mission-run-block.txt", import.meta.url);
  expect(lines.map((line) => `${line}\n`).join("")).toBe(readFileSync(page, "utf8"));
});
