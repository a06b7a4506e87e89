import { expect, test } from "vitest";
import type { ModelCalls } from "../../../core/model/model-calls.ts";
import type { AttemptEvidence, ReportJob } from "../../../core/report/report-job.ts";
import { renderReport } from "../../../core/report/render-report.ts";
import { aCard, aReportJob, missionRepeats, plannedOf } from "./report-builders.ts";

function callsServedBy(name: string): ModelCalls {
  return {
    requests: 1,
    main_requests: 1,
    refused: 0,
    failed: 0,
    incomplete: 0,
    anomalies: 0,
    held_ms: 0,
    tokens: { input: 1, output: 1, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0 },
    estimate: null,
    cost_micro_usd: null,
    cost_status: "unpriced" as const,
    price_sources: [],
    served_models: [name],
  };
}

/** Evidence of a job: who served each trial, by its name's beginning; null for nobody. */
function servedBy(job: ReportJob, served: Readonly<Record<string, string | null>>): ReportJob {
  const evidence = [...job.evidence].map(([rollout, one]): [string, AttemptEvidence] => {
    const name = served[rollout.split("__")[0] ?? ""] ?? null;
    return [rollout, { ...one, modelCalls: name === null ? null : callsServedBy(name) }];
  });
  return { ...job, evidence: new Map(evidence) };
}

test("several settings give a line each and a warning instead of one score", () => {
  const low = aReportJob({
    path: "jobs/a",
    records: [{ reward: 1 }],
    evaluation: { config: { reasoning_effort: "low" } },
  });
  const high = aReportJob({
    path: "jobs/b",
    records: [{ reward: 0 }],
    evaluation: { config: { reasoning_effort: "high" } },
  });
  const card = aCard([low, high]);
  expect(card.groups).toHaveLength(2);
  expect(card.mixed).toEqual(["effort"]);
  const lines = renderReport(card).split("\n");
  expect(lines.filter((line) => line.startsWith("- 1 trials of 1 tasks"))).toHaveLength(2);
  expect(lines).toContainEqual(
    expect.stringContaining(
      "Warning: mixed settings: these trials ran under 2 settings, which differ in effort.",
    ),
  );
});

test("trials that different models served are different settings, within one job too", () => {
  const job = aReportJob({
    records: [
      { taskName: "a", reward: 1 },
      { taskName: "b", reward: 0 },
    ],
  });
  const card = aCard([servedBy(job, { a: "m-0801", b: "m-0902" })]);
  expect(card.groups.map(({ setting }) => setting.served_models)).toEqual([["m-0801"], ["m-0902"]]);
  expect(card.mixed).toEqual(["served model"]);
});

test("a trial that no model answered is of its job's setting, and mixes none in", () => {
  const job = aReportJob({
    records: [
      { taskName: "a", reward: 1 },
      { taskName: "b", unscored: "verifier_failure" },
    ],
    evidence: { tool: "bench 1" },
  });
  const card = aCard([servedBy(job, { a: "m-0801" })]);
  expect(card.mixed).toEqual([]);
  expect(card.groups).toMatchObject([{ counts: { planned: 2, scored: 1 } }]);
});

test("what a job spent beside its trials is in one of its settings", () => {
  const job = aReportJob({
    records: [
      { taskName: "a", reward: 1 },
      { taskName: "b", reward: 0 },
      { taskName: "b", reward: 0, rolloutName: "b__old", taskDigest: "sha256:old" },
      { taskName: "a", reward: 0, rolloutName: "a__old", taskDigest: "sha256:old" },
    ],
    planned: plannedOf("a", "b"),
  });
  const killed = { ...job, job: { ...job.job, killedAttempts: 1 } };
  const { groups } = aCard([servedBy(killed, { a: "m-0801", b: "m-0902" })]);
  expect(groups.map(({ spend }) => spend)).toMatchObject([
    { attempts: 3, superseded_attempts: 1, total_tokens: 2000 },
    { attempts: 2, superseded_attempts: 1, total_tokens: 2000 },
  ]);
});

const OTHER_VERSION = {
  taskName: "offer-letter-generator",
  taskDigest: "sha256:other",
  agent: "oracle",
  model: null,
  reward: 1,
};

test("a control at another version of the task does not count as one on the same tasks", () => {
  const [first] = missionRepeats();
  if (first === undefined) throw new Error("no repeat");
  const other = aReportJob({ path: "jobs/oracle/x", records: [OTHER_VERSION] });
  expect(aCard([first, other]).controls[0]).toMatchObject({
    tasks: 0,
    missing: expect.arrayContaining(["offer-letter-generator"]),
  });
});

test("a trial that never started does not let controls at any version count", () => {
  const [first] = missionRepeats();
  if (first === undefined) throw new Error("no repeat");
  const second = aReportJob({
    path: "jobs/claude-agent-acp/trial-02/x",
    records: [],
    planned: plannedOf("offer-letter-generator"),
  });
  const other = aReportJob({ path: "jobs/oracle/x", records: [OTHER_VERSION] });
  const same = aReportJob({
    path: "jobs/oracle/y",
    records: [{ ...OTHER_VERSION, taskDigest: "sha256:aa" }],
  });
  expect(aCard([first, second, other]).controls).toMatchObject([{ tasks: 0 }]);
  expect(aCard([first, second, same]).controls).toMatchObject([{ tasks: 1 }]);
});
