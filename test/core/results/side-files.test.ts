import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ResultsRow } from "../../../core/model/results-row.ts";
import { TrajectoryEvent } from "../../../core/model/trajectory.ts";
import type { TrialRecord } from "../../../core/model/record.ts";
import type { EndedTrial } from "../../../core/results/ended-trial.ts";
import { readTrialResult } from "../../../core/results/read-trial-result.ts";
import { renderSandboxFile, renderSideFiles } from "../../../core/results/render-side-files.ts";
import { summarizeTrajectory } from "../../../core/results/summarize-trajectory.ts";

const FAULTS = new URL(
  "../../fixtures/benchflow-0.7.12/faults-no-retry/2026-11-30__04-39-55/",
  import.meta.url,
);
const FOLDERS = readdirSync(FAULTS).filter((name) => name.includes("__"));

function text(folder: string, path: string): string {
  return readFileSync(new URL(`${folder}/${path}`, FAULTS), "utf8");
}

/** A trial as BenchFlow left it, so that our files can be laid beside its own. */
function theirTrial(folder: string): EndedTrial {
  const reading = readTrialResult(text(folder, "result.json"), { rolloutName: folder });
  if (reading.kind === "malformed") throw new Error(reading.reason);
  const prompts = JSON.parse(text(folder, "prompts.json")) as string[];
  return {
    record: reading.record,
    instruction: prompts[0] ?? "",
    prompts,
    events: [TrajectoryEvent.parse(JSON.parse(text(folder, "trajectory/acp_trajectory.jsonl")))],
    rolloutDir: `bf/faults-no-retry/2026-11-30__04-39-55/${folder}`,
    utcOffsetMinutes: 0,
  };
}

/** JSON writes 1 where Python writes 1.0; the numbers are equal. */
function withoutFloats(line: string): string {
  return line.replaceAll(/(?<=: -?\d+)\.0(?=[,}])/gu, "");
}

test.each(FOLDERS)(
  "%s: rewards, trainer and prompt files are BenchFlow's, byte for byte",
  (folder) => {
    const trial = theirTrial(folder);
    const files = renderSideFiles(trial);
    const scored = trial.record.outcome.kind === "scored";
    const same = ["prompts.json", "trainer/atif.json", "trainer/adp.jsonl"];
    if (scored) same.push("rewards.jsonl", "trainer/verifiers.jsonl");
    for (const path of same) {
      const theirs = text(folder, path);
      const expected = path.endsWith(".jsonl") ? withoutFloats(theirs) : theirs;
      expect(files.get(path)).toBe(expected);
    }
    expect(files.has("rewards.jsonl")).toBe(scored);
  },
);

test.each(FOLDERS)(
  "%s: results.jsonl differs from version 1 in the documented keys only",
  (folder) => {
    const trial = theirTrial(folder);
    const ours: unknown = JSON.parse(renderSideFiles(trial).get("results.jsonl") ?? "");
    const theirs = JSON.parse(text(folder, "results.jsonl")) as ResultsRow;
    const scored = trial.record.outcome.kind === "scored";
    expect(ResultsRow.safeParse(ours).error).toBeUndefined();
    expect(Object.keys(ours as object)).toEqual(Object.keys(theirs));
    const info = { ...theirs.info, schema_version: 2 };
    const changed = scored
      ? { info, error: null, is_completed: true }
      : { info, reward: null, score: null };
    expect(ours).toEqual({ ...theirs, ...changed });
  },
);

test("an unscored trial has the reward null in every row, never 0", () => {
  const files = renderSideFiles(theirTrial("fails-no-reward__eacc33cf"));
  expect(JSON.parse(files.get("results.jsonl") ?? "")).toMatchObject({
    reward: null,
    score: null,
    is_completed: false,
    stop_condition: "verifier_error",
  });
  const row: unknown = JSON.parse(files.get("trainer/verifiers.jsonl") ?? "");
  expect(row).toMatchObject({ reward: null, info: { reward_valid: false } });
});

test("timing.json holds the contract's phases and the spans that add up to the total", () => {
  const { record, ...rest } = theirTrial("reward-zero__d5def205");
  const spans: TrialRecord["spans"] = [
    { phase: "start", startedAt: "2026-11-30T04:40:00.000Z", seconds: 1.25 },
    { phase: "verify", startedAt: "2026-11-30T04:40:01.250Z", seconds: 0.5 },
  ];
  const trial = { ...rest, record: { ...record, timing: { verifier: 0.5, total: 1.8 }, spans } };
  expect(JSON.parse(renderSideFiles(trial).get("timing.json") ?? "")).toEqual({
    verifier: 0.5,
    total: 1.8,
    spans: [
      { phase: "start", started_at_utc: "2026-11-30T04:40:00.000Z", seconds: 1.25 },
      { phase: "verify", started_at_utc: "2026-11-30T04:40:01.250Z", seconds: 0.5 },
    ],
  });
});

const CONVERSATION = [
  { type: "user_message", text: "Fix it" },
  { type: "agent_thought", text: "Look first" },
  {
    type: "tool_call",
    tool_call_id: "c1",
    kind: "read",
    title: "Read a.txt",
    status: "completed",
    content: [{ type: "content", content: { type: "text", text: "hello" } }, 7],
    raw_input: { path: "a.txt" },
  },
  { type: "agent_message", text: "Done." },
].map((event) => TrajectoryEvent.parse(event));

test("an agent's events become messages, tool calls and their results in the trainer files", () => {
  const trial = { ...theirTrial("reward-partial__5d2f1bd8"), events: CONVERSATION };
  const files = renderSideFiles(trial);
  const adp = JSON.parse(files.get("trainer/adp.jsonl") ?? "") as { content: unknown };
  expect(adp.content).toEqual([
    { class_: "text_observation", content: "Fix it", source: "user" },
    { class_: "message_action", content: "Look first", description: "thought" },
    {
      class_: "api_action",
      function: "read",
      kwargs: { path: "a.txt" },
      description: "Read a.txt",
    },
    { class_: "text_observation", content: "hello", source: "environment" },
    { class_: "message_action", content: "Done.", reward: 0.3 },
  ]);
  const atif = JSON.parse(files.get("trainer/atif.json") ?? "") as { steps: unknown[] };
  expect(atif.steps[2]).toEqual({
    step_id: 3,
    source: "agent",
    message: "",
    tool_calls: [{ tool_call_id: "c1", function_name: "read", arguments: { path: "a.txt" } }],
    observation: { results: [{ source_call_id: "c1", content: "hello" }] },
  });
});

test("a trial of nop, where nothing happened, has no atif.json", () => {
  const trial = { ...theirTrial("reward-zero__d5def205"), events: [], prompts: [] };
  const files = renderSideFiles(trial);
  expect(files.has("trainer/atif.json")).toBe(false);
  expect(files.get("prompts.json")).toBe("[]");
  expect(JSON.parse(files.get("trainer/verifiers.jsonl") ?? "")).toMatchObject({
    prompt: [{ role: "user", content: trial.instruction }],
    completion: [],
  });
});

test("a trajectory is counted by kind of event and status of tool call", () => {
  const about = { partial_trajectory: false, trajectory_source: "acp" as const };
  expect(summarizeTrajectory(CONVERSATION, about)).toEqual({
    steps: 4,
    tool_call_steps: 1,
    user_message_steps: 1,
    agent_message_steps: 1,
    agent_thought_steps: 1,
    other_steps: 0,
    event_type_counts: { user_message: 1, agent_thought: 1, tool_call: 1, agent_message: 1 },
    tool_call_status_counts: { completed: 1 },
    ...about,
  });
});

test("the record of a sandbox names it, its provider and its time", () => {
  const record = { id: "c0ffee", provider: "docker", createdAt: "2026-11-30T04:40:00.000Z" };
  expect(JSON.parse(renderSandboxFile(record))).toEqual({
    sandbox_id: "c0ffee",
    provider: "docker",
    created_at: "2026-11-30T04:40:00.000Z",
  });
});
