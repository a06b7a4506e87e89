import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { TrialRecord } from "../../../../core/model/record.ts";
import { renderFinalBlock } from "../../../../core/report/console/final-block.ts";
import { renderJobLines } from "../../../../core/report/console/job-lines.ts";
import { renderGate, renderResumed } from "../../../../core/report/console/run-lines.ts";
import { groupTrials } from "../../../../core/results/group-trials.ts";
import type { PlannedMeasurement } from "../../../../core/results/group-trials.ts";
import { readTrialResult } from "../../../../core/results/read-trial-result.ts";
import { NO_USAGE } from "../../../../runner/agents/agent.ts";
import { aRecord } from "../../results/a-record.ts";
import { planOf } from "../../results/a-summary.ts";

const FACTS = { jobDir: "jobs/j", elapsedSec: 3722, reused: 0 };

function block(records: readonly TrialRecord[], planned: PlannedMeasurement | null = null): string {
  return renderFinalBlock(groupTrials(records, planned), FACTS).join("\n");
}

test("saved work that was refused is named with the flag that helps, not told to be run again", () => {
  const verification = {
    verify_only_from: "half-life__0000000a",
    refused: true,
    failures: 1,
    works_on_nop: null,
  };
  const said = block([aRecord({ unscored: "other", verification })]);
  expect(said).toContain("1 errored: saved work cannot be verified again (infrastructure problem)");
  expect(said).toContain("next: run the same command with --fresh");
});

test("an image that its task's own files do not give is named apart from a sandbox that did not start", () => {
  const unmade = aRecord({ unscored: "sandbox_setup" });
  const unbuilt = { ...unmade, outcome: { ...unmade.outcome, fault: "task" as const } };
  expect(block([unmade])).toContain("1 errored: sandbox did not start (infrastructure problem)");
  expect(block([unbuilt])).toContain("1 errored: image cannot be built (task problem)");
  expect(block([unbuilt])).toContain("next: `bench tasks check` shows what a task lacks");
});

test("a new job in which no trial started names no folder, since none is left", () => {
  const job = groupTrials([], planOf("a"));
  expect(renderFinalBlock(job, { ...FACTS, resumed: false }).at(-1)).toBe(
    "Artifacts: none: no trial was started",
  );
  expect(renderFinalBlock(job, { ...FACTS, resumed: true }).at(-1)).toBe("Artifacts: jobs/j");
});

function costAfterKill(records: readonly TrialRecord[]): string | undefined {
  const lines = renderFinalBlock(groupTrials(records, null, { killed: 1 }), FACTS);
  return lines
    .find((line) => line.startsWith("Cost:"))
    ?.slice("Cost:".length)
    .trim();
}

function cost(records: readonly TrialRecord[]): string {
  return /^Cost: {6}(.*)$/mu.exec(block(records))?.[1] ?? "";
}

test("what a killed attempt cost is said to be unknown, and makes every sum a least one", () => {
  expect(costAfterKill([])).toBe("unknown (1 killed attempt left no count)");
  const usage = { ...aRecord().usage, totalTokens: 1200, costUsd: 0.25 };
  expect(costAfterKill([aRecord({ usage })])).toBe(
    ">=$0.25, >=1,200 tokens (1 killed attempt left no count)",
  );
});

function priced(costUsd: number): TrialRecord["usage"] {
  return { ...aRecord().usage, costUsd };
}

/** BenchFlow's twelve kinds of verifier, with the test reports beside their results. */
function faults(): TrialRecord[] {
  const job = new URL(
    "../../../fixtures/benchflow-0.7.12/faults-no-retry/2026-11-30__04-39-55/",
    import.meta.url,
  );
  return readdirSync(job)
    .filter((name) => name.includes("__"))
    .map((rolloutName) => {
      const text = readFileSync(new URL(`${rolloutName}/result.json`, job), "utf8");
      const report = new URL(`${rolloutName}/verifier/ctrf.json`, job);
      const ctrf = rolloutName.startsWith("ctrf") ? readFileSync(report, "utf8") : null;
      const reading = readTrialResult(text, { rolloutName, evidence: { ctrf } });
      if (reading.kind === "malformed") throw new Error(reading.reason);
      return reading.record;
    });
}

test("a job of twelve faulty verifiers says what failed, why, and what to do next", () => {
  const job = groupTrials(faults(), null);
  const facts = { jobDir: "bf/job", elapsedSec: 124.5, reused: 0 };
  expect(renderFinalBlock(job, facts)).toEqual([
    "",
    "• Score: 1/12 (8.3%), mean reward 0.36, errors=0 verifier-errors=7",
    "  ✗ ctrf-one-failed: reward 0.0 — test_b failed: assert 1 == 2",
    "  ✗ fails-no-reward: verifier crashed: verifier exited with rc=3; no reward file found at bf/faults-no-retry/2026-11-30__…",
    "  ✗ json-bad-key: verifier crashed: Reward JSON file bf/faults-no-retry/2026-11-30__04-39-55/json-bad-key__259be55f/ve…",
    "  ✗ json-two-metrics: reward 0.5 — accuracy 0.75, style 0.25",
    "  ✗ reward-empty: verifier crashed: Reward file is empty at bf/faults-no-retry/2026-11-30__04-39-55/reward-empty__145f…",
    "  … and 6 more",
    "  (details: bf/job/fails-no-reward__eacc33cf/verifier)",
    "Outcomes: 5 scored (1 passed, 4 failed), 7 unscored, 0 errored",
    "  6 unscored: verifier gave no valid reward (task problem): fails-no-reward, json-bad-key, reward-empty, reward-not-a-number, reward-out-of-range and 1 more",
    "      next: read the trial's verifier/test-stdout.txt, then `bench tasks check --controls`",
    "  1 unscored: verifier timed out (task problem): verifier-sleeps",
    "      next: raise the task's verifier timeout, or --timeout-multiplier",
    "Coverage: 5 of 12 planned trials scored",
    "Cost:      none: no model tokens were used",
    "Time:      2m 5s",
    "Artifacts: bf/job",
  ]);
  expect(renderJobLines(job, 124.5)).toEqual([
    "1 tasks (8%) had verifier timeouts — check verifier_timeout_info in result.json for diagnostics",
    "7 tasks (58%) had verifier errors — check verifier scripts for bugs",
    "More than 20% of tasks had verifier errors: results may be unreliable",
    "Job complete: 1/12 (8.3%), mean_reward=0.36, errors=0, idle_timeouts=0, time=2.1min",
  ]);
});

test("the mark says all, some or none passed", () => {
  expect(block([aRecord()])).toContain("✓ Score: 1/1 (100.0%), mean reward 1.00, errors=0\n");
  expect(block([aRecord({ reward: 0 })])).toContain(
    "✗ Score: 0/1 (0.0%), mean reward 0.00, errors=0",
  );
  expect(block([aRecord()], planOf("half-life", "other"))).toContain("• Score: 1/1 (100.0%)");
});

test("a script's score is told to be no model's, right below it", () => {
  const [, score, scripted] = block([aRecord({ model: "scripted/solve.json" })]).split("\n");
  expect(score).toContain("Score: 1/1");
  expect(scripted).toBe(
    "Scripted:  scripted/solve.json answered in the place of a model, so this is no model's score",
  );
  expect(block([aRecord()])).not.toContain("Scripted");
});

test("without a score there is no mean reward", () => {
  const errored = aRecord({
    unscored: "infra_failure",
    error: { category: "infra_failure", message: "sandbox lost" },
  });
  expect(block([errored])).toContain(
    "✗ Score: 0/1 (0.0%), errors=1\n  ✗ half-life: infra_failure happened\n",
  );
  expect(renderJobLines(groupTrials([errored], null), 30)).toEqual([
    "Job complete: 0/1 (0.0%), errors=1, idle_timeouts=0, time=0.5min",
  ]);
});

test("an errored trial and one without a verdict are told apart in the outcomes", () => {
  const text = block([
    aRecord({ taskName: "a", unscored: "no_verdict" }),
    aRecord({ taskName: "b", unscored: "pipe_closed" }),
  ]);
  expect(text).toContain("errors=2\n");
  expect(text).toContain(`Outcomes: 0 scored (0 passed, 0 failed), 1 unscored, 1 errored
  1 unscored: no verdict (infrastructure problem): a
      next: run the same command again: it keeps what has a score and runs the rest
  1 errored: agent connection closed (infrastructure problem): b
      next: run`);
});

test("a verifier that fails only after the agent's work is named apart", () => {
  const { outcome } = aRecord({ unscored: "verifier_failure" });
  const after = { ...outcome, afterAgent: true } as TrialRecord["outcome"];
  expect(block([aRecord({ unscored: "verifier_failure", outcome: after })])).toContain(
    "1 unscored: verifier gave no valid reward after the agent's work (infrastructure problem): half-life",
  );
});

test("stopped and never started trials are in the coverage and not in the score (C-14)", () => {
  const records = [
    aRecord({ taskName: "a" }),
    aRecord({ taskName: "b", unscored: "budget_stopped" }),
    aRecord({ taskName: "c", unscored: "interrupted" }),
    aRecord({ taskName: "f", unscored: "usage_anomaly" }),
  ];
  const text = block(records, planOf("a", "b", "c", "d", "e", "f"));
  expect(text).toContain("• Score: 1/1 (100.0%), mean reward 1.00, errors=0\nOutcomes: 1 scored");
  expect(text).toContain(`0 errored
Coverage: 1 of 6 planned trials scored
  1 stopped by the budget: b
  1 stopped by a usage anomaly: f
  1 interrupted: c
  2 never started: d, e
Cost:`);
});

test("more than five failures are counted", () => {
  const records = ["a", "b", "c", "d", "e", "f", "g"].map((taskName) =>
    aRecord({ taskName, reward: 0 }),
  );
  expect(block(records)).toContain("  ✗ e: reward 0.0\n  … and 2 more\nOutcomes:");
});

test("the cost covers every attempt and never shows an unknown price as $0.00", () => {
  const unknown = { ...aRecord().usage, totalTokens: null };
  expect(cost([aRecord({ usage: NO_USAGE })])).toBe("none: no model tokens were used");
  const reserved = { ...NO_USAGE, totalTokens: 0, costUsd: 0.66 };
  expect(cost([aRecord({ usage: reserved })])).toBe("$0.66, 0 tokens");
  expect(cost([aRecord({ usage: priced(0.75) })])).toBe("$0.75, 1,000 tokens");
  expect(
    cost([
      aRecord({ attempt: 1, unscored: "infra_failure", usage: priced(0.5) }),
      aRecord({ attempt: 2, usage: priced(0.25) }),
    ]),
  ).toBe("$0.75, 2,000 tokens");
  expect(
    cost([
      aRecord({ taskName: "a", usage: priced(0.5) }),
      aRecord({ taskName: "b", usage: priced(0.25) }),
      aRecord({ taskName: "c" }),
      aRecord({ taskName: "d" }),
    ]),
  ).toBe("$0.75, 4,000 tokens (2 of 4 trials reported no cost)");
  expect(cost([aRecord()])).toBe(
    "not reported in USD (subscription logins and unpriced models report tokens only), 1,000 tokens",
  );
  expect(cost([aRecord({ usage: unknown })])).toContain("only), tokens not reported");
  expect(cost([aRecord({ usage: priced(0.001) })])).toBe("<$0.01, 1,000 tokens");
  expect(cost([aRecord({ usage: priced(12_345.678) })])).toBe("$12,345.68, 1,000 tokens");
});

test("a resumed run says what was kept, and the time is this run's", () => {
  const job = groupTrials([aRecord()], null);
  const lines = renderFinalBlock(job, { jobDir: "jobs/j", elapsedSec: 3722, reused: 2 });
  expect(lines).toContain("Time:      1h 2m (this run; 2 task(s) reused from before)");
  expect(renderResumed("jobs/j", 2, 1)).toBe(
    "Resumed job jobs/j: 2 finished task(s) reused, 1 ran now. Pass --fresh (or a new --job-name) for a new run.",
  );
  expect(renderResumed("jobs/j", 3, 0)).toBe(
    "Resumed job jobs/j: all 3 task(s) were already finished, so nothing ran and these are the earlier results",
  );
});

test("each failed check of a gate has its line", () => {
  const failed = ["fail-under 0.8: pass rate 66.7% (2/3)", "fail-on timeout: 1 trial(s)"];
  expect(renderGate({ fail_on: ["timeout"], fail_under: 0.8, failed })).toEqual([
    "Gate failed: fail-under 0.8: pass rate 66.7% (2/3)",
    "Gate failed: fail-on timeout: 1 trial(s)",
  ]);
});
