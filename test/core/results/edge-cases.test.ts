import { expect, test } from "vitest";
import type { TrialRecord } from "../../../core/model/record.ts";
import { groupTrials } from "../../../core/results/group-trials.ts";
import { renderFinalBlock } from "../../../core/report/console/final-block.ts";
import { summarizeJob } from "../../../core/results/summarize-job.ts";
import type { JobFacts } from "../../../core/results/summarize-job.ts";
import { aRecord } from "./a-record.ts";
import type { RecordWish } from "./a-record.ts";

const FACTS: JobFacts = {
  jobName: "job",
  agent: "claude-agent-acp",
  model: null,
  environment: "local",
  concurrency: 1,
  agentIdleTimeoutSec: null,
};

function job(...wishes: readonly RecordWish[]): TrialRecord[] {
  return wishes.map((wish, index) => aRecord({ taskName: `task-${index}`, ...wish }));
}

function summarize(records: readonly TrialRecord[]) {
  return summarizeJob(FACTS, { records, planned: null, quarantined: [], killedAttempts: 0 });
}

interface EdgeCase {
  readonly name: string;
  readonly records: readonly TrialRecord[];
  readonly score: string;
  readonly rate: number | null;
  readonly mean: number | null;
}

/** Statistics D11: the degenerate samples, each with what it must give. */
const EDGES: readonly EdgeCase[] = [
  { name: "no trial", records: [], score: "-", rate: null, mean: null },
  { name: "one pass", records: job({}), score: "100.0%", rate: 1, mean: 1 },
  { name: "one fail", records: job({ reward: 0 }), score: "0.0%", rate: 0, mean: 0 },
  { name: "all passed", records: job({}, {}, {}), score: "100.0%", rate: 1, mean: 1 },
  {
    name: "all failed",
    records: job({ reward: 0 }, { reward: 0 }),
    score: "0.0%",
    rate: 0,
    mean: 0,
  },
  {
    name: "all void",
    records: job({ unscored: "verifier_failure" }, { unscored: "infra_failure" }),
    score: "0.0%",
    rate: null,
    mean: null,
  },
  {
    name: "all stopped by the budget",
    records: job({ unscored: "budget_stopped" }, { unscored: "budget_stopped" }),
    score: "-",
    rate: null,
    mean: null,
  },
  {
    name: "0.5 everywhere",
    records: job({ reward: 0.5 }, { reward: 0.5 }),
    score: "0.0%",
    rate: 0,
    mean: 0.5,
  },
  {
    name: "a reward far below the smallest that is shown",
    records: job({ reward: 1e-320 }),
    score: "0.0%",
    rate: 0,
    mean: 1e-320,
  },
];

test.each(EDGES)(
  "$name: score, rate and mean are right, and no number is NaN (C-5, C-30)",
  (edge) => {
    const summary = summarize(edge.records);
    expect(summary.score).toBe(edge.score);
    expect(summary.views.scored.pass_rate).toBe(edge.rate);
    expect(summary.mean_reward).toBe(edge.mean);
    for (const number of numbersIn(summary)) expect(Number.isFinite(number)).toBe(true);
    const block = renderFinalBlock(groupTrials(edge.records, null), {
      jobDir: "jobs/job",
      elapsedSec: 1,
      reused: 0,
    });
    expect(block.join("\n")).not.toMatch(/NaN|undefined|null/u);
  },
);

/** JSON would hide a NaN as null, so the numbers are looked at before they are text. */
function numbersIn(value: unknown): number[] {
  if (typeof value === "number") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(numbersIn);
}

test("10,000 tasks with 3 attempts each are summarized in seconds", () => {
  const records = Array.from({ length: 30_000 }, (_, index) =>
    aRecord({
      taskName: `task-${index % 10_000}`,
      attempt: 1 + Math.floor(index / 10_000),
      ...(index < 20_000 ? { unscored: "infra_failure" as const } : { reward: index % 2 }),
    }),
  );
  const startedMs = performance.now();
  const summary = summarize(records);
  expect(performance.now() - startedMs).toBeLessThan(8000);
  expect(summary).toMatchObject({ total: 10_000, passed: 5000, total_tokens: 30_000_000 });
});
