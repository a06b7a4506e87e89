import { createHash } from "node:crypto";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, expect, test } from "vitest";
import { BenchError } from "../../../core/errors.ts";
import { JobDocument } from "../../../core/model/job-view.ts";
import {
  renderResultsNotes,
  renderResultsTable,
} from "../../../core/report/console/results-table.ts";
import { renderJobDocument, toJobDocument } from "../../../core/results/job-document.ts";
import { renderTrialResult, trackNoUsage } from "../../../core/results/render-trial-result.ts";
import { loadJob } from "../../../stores/job-reader/load-job.ts";
import { aRecord, onImage, type RecordWish } from "../../core/results/a-record.ts";

const VECTORS = fileURLToPath(new URL("../../fixtures/benchflow-0.7.12", import.meta.url));
const made: string[] = [];
let root = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "job-reader-"));
  made.push(root);
});

afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true });
});

/** Writes a trial's result.json into a job of the temporary root, and returns its folder. */
function put(job: string, wish: RecordWish): string {
  const record = aRecord(wish);
  const dir = join(root, job, record.rolloutName);
  mkdirSync(join(dir, "verifier"), { recursive: true });
  const text = renderTrialResult(record, {
    trajectorySummary: null,
    usageTracking: trackNoUsage("local"),
    sandboxId: null,
    utcOffsetMinutes: 0,
  });
  writeFileSync(join(dir, "result.json"), text);
  return dir;
}

test("a seal that a later command wrote is noted, and listed in the document", async () => {
  const dir = put("one", { taskName: "alpha" });
  put("one", { taskName: "beta" });
  const bytes = readFileSync(join(dir, "result.json"));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const files = [{ path: "result.json", size: bytes.length, sha256 }];
  const seal = { schema_version: 1, files, other: [], recovered: true };
  writeFileSync(join(dir, "seal.json"), JSON.stringify(seal));
  const loaded = await loadJob(root);
  expect(renderResultsNotes(loaded)).toEqual([
    `${dir} was sealed by a later command: its own was killed before it could`,
  ]);
  expect(JobDocument.parse(toJobDocument(loaded)).recovered).toEqual([dir]);
  expect(loaded.passed).toBe(2);
});

async function failure(path: string): Promise<BenchError> {
  const error: unknown = await loadJob(path).catch((thrown: unknown) => thrown);
  if (!(error instanceof BenchError)) throw new Error("no BenchError");
  return error;
}

test("BenchFlow's oracle job is 3 of 3", async () => {
  const loaded = await loadJob(`${VECTORS}/oracle-t3/2026-11-30__04-35-06`);
  expect(loaded).toMatchObject({ kind: "evaluation", passed: 3, total: 3, score: 1 });
  expect(loaded.jobs[0]).toMatchObject({ agent: "oracle", control: "oracle", repeat: null });
});

test("BenchFlow's job of faulty verifiers is 1 passed, 4 failed, 7 without a verdict", async () => {
  const { jobs, counts } = await loadJob(`${VECTORS}/faults-no-retry/`);
  expect(counts).toMatchObject({ planned: 12, total: 12, passed: 1, failed: 4, errored: 0 });
  expect(counts).toMatchObject({ verifierErrored: 7, meanReward: 0.36 });
  expect(jobs[0]?.trials[0]?.record.firstFailedTest).toBe("test_b failed: assert 1 == 2");
  expect(jobs[0]?.quarantined).toEqual([]);
});

test("BenchFlow's matrix tree is two repeats of 3 of 3", async () => {
  const { kind, jobs } = await loadJob(`${VECTORS}/trials2-matrix`);
  expect(kind).toBe("directory");
  expect(
    jobs.map(({ alias, repeat, counts }) => [alias, repeat, counts.passed, counts.total]),
  ).toEqual([
    ["control", 1, 3, 3],
    ["control", 2, 3, 3],
  ]);
});

test("results shows a line a job, with the control that it is", async () => {
  put("jobs/2026-11-04__18-24-21", { taskName: "a", agent: "nop", reward: 0 });
  put("jobs/2026-11-04__19-24-21", { taskName: "a" });
  put("jobs/2026-11-04__19-24-21", { taskName: "b", unscored: "verifier_failure" });
  const loaded = await loadJob(join(root, "jobs"));
  expect(renderResultsTable(loaded)).toEqual([
    "Job                   Agent             Model                   Control  Score        Mean reward  Unscored  Tokens  Cost  Time",
    "2026-11-04__18-24-21  nop               xiaomi/mimo-v2.6-flash  empty    0/1 (0.0%)   0.00         0         1,000   -     1m 0s",
    "2026-11-04__19-24-21  claude-agent-acp  xiaomi/mimo-v2.6-flash  -        1/2 (50.0%)  1.00         1         2,000   -     1m 0s",
  ]);
});

test("the job document is the documented one, strict JSON, and leaves controls out of its rates", async () => {
  const document = toJobDocument(await loadJob(VECTORS));
  const text = renderJobDocument(document);
  expect(JobDocument.safeParse(JSON.parse(text)).error).toBeUndefined();
  expect(document.denominators).toMatchObject({ attempted: 0, controls_excluded: 21 });
  expect(document.denominators_with_controls).toMatchObject({
    attempted: 21,
    scored: 14,
    assessment_errors: 7,
    unscored: 0,
    passed: 10,
    pass_rate_scored: 10 / 14,
    pass_rate_attempted: 10 / 21,
  });
  expect(document.error_categories).toEqual({ verifier_failure: 6, verifier_timeout: 1 });
  expect(document.jobs.map((job) => job.control)).toEqual(["oracle", "oracle", "oracle", "oracle"]);
  const [first] = document.trials;
  expect(first).toMatchObject({
    task_name: "ctrf-one-failed",
    score_outcome: "failed",
    execution: "completed",
    assessment: "scored",
    control: "oracle",
    verifier: { ctrf: "verifier/ctrf.json", reward_text: "verifier/reward.txt", reward_json: null },
    trajectory: "trajectory/acp_trajectory.jsonl",
  });
});

test("neither file times nor the order of folders change what a job says (C-7)", async () => {
  put("job", { attempt: 1, reward: 0 });
  const second = put("job", { attempt: 2, reward: 1, rolloutName: "half-life__ffffffff" });
  put("job", { taskName: "b", reward: 1 });
  const before = renderJobDocument(toJobDocument(await loadJob(join(root, "job"))));
  const now = new Date();
  for (const name of ["half-life__00000001", "half-life__ffffffff", "b__00000001"])
    utimesSync(join(root, "job", name, "result.json"), now, now);
  renameSync(second, `${second}.away`);
  renameSync(`${second}.away`, second);
  const loaded = await loadJob(join(root, "job"));
  expect(renderJobDocument(toJobDocument(loaded))).toBe(before);
  expect(loaded).toMatchObject({ passed: 1, total: 2 });
});

test("eight malformed results are set aside with reasons and the others counted (C-9)", async () => {
  const shapes = ["[1]", "true", '"1"', "1", "", "{", "null", '{"task_name": 1}'];
  for (const [index, shape] of shapes.entries()) {
    const dir = put("job", { taskName: `bad${index}` });
    const isRewards = index < 4;
    writeFileSync(
      join(dir, "result.json"),
      isRewards ? `{"task_name": "t", "rewards": ${shape}}` : shape,
    );
  }
  put("job", { taskName: "good" });
  const loaded = await loadJob(join(root, "job"));
  expect(loaded).toMatchObject({ passed: 1, total: 1 });
  expect(loaded.jobs[0]?.quarantined.map(({ reason }) => reason)).toEqual([
    "result.json: rewards is a list: expected record, received array",
    "result.json: rewards is true: expected record, received boolean",
    'result.json: rewards is "1": expected record, received string',
    "result.json: rewards is 1: expected record, received number",
    "result.json: not valid JSON: 1:1: a value is missing",
    "result.json: not valid JSON: 1:2: a key in double quotes is missing",
    "result.json: not a trial result: expected object, received null",
    "result.json: task_name is 1: expected string, received number",
  ]);
  expect(renderResultsNotes(loaded)).toHaveLength(8);
});

test("an attempt without a result is interrupted, and its trial is not lost from the plan", async () => {
  put("job", { taskName: "done" });
  const dir = join(root, "job", "cut__0000000a");
  mkdirSync(dir);
  writeFileSync(
    join(dir, "config.json"),
    '{"agent": "oracle", "model": null, "started_at": "2026-11-04 18:24:21.000000"}',
  );
  writeFileSync(join(dir, "sandbox.json"), '{"sandbox_id": "c0ffee"}');
  const evaluation = {
    tasks_dir: "tasks",
    settings_digest: "sha256:bb",
    tasks: ["cut", "done", "later"].map((name) => ({ name, digest: "sha256:aa" })),
  };
  writeFileSync(join(root, "job", "evaluation.json"), JSON.stringify(evaluation));
  const loaded = await loadJob(join(root, "job"));
  expect(loaded.counts).toMatchObject({ planned: 3, total: 1, passed: 1, neverStarted: 2 });
  expect(loaded.jobs[0]?.interrupted).toEqual([
    {
      rolloutName: "cut__0000000a",
      taskName: "cut",
      agent: "oracle",
      model: null,
      startedAt: "2026-11-04 18:24:21.000000",
      sandboxId: "c0ffee",
    },
  ]);
});

test("a job that was killed before its first result is still a job of its agent", async () => {
  const dir = join(root, "job", "cut__0000000a");
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "config.json"), '{"agent": "oracle"}');
  const loaded = await loadJob(join(root, "job"));
  expect(loaded).toMatchObject({ total: 0, score: null });
  expect(loaded.jobs[0]).toMatchObject({ agent: "oracle", control: "oracle" });
});

test("links that someone planted in a job are not followed (C-55)", async () => {
  const outside = join(root, "outside");
  mkdirSync(outside);
  cpSync(`${VECTORS}/oracle-t3`, join(outside, "jobs"), { recursive: true });
  writeFileSync(
    join(outside, "ctrf.json"),
    '{"results": {"tests": [{"name": "secret", "status": "failed"}]}}',
  );
  const dir = put("jobs/job", { taskName: "a", reward: 0, attempt: null });
  rmSync(join(dir, "verifier"), { recursive: true });
  symlinkSync(outside, join(dir, "verifier"));
  const linked = put("jobs/job", { taskName: "b" });
  rmSync(join(linked, "result.json"));
  symlinkSync(join(dir, "result.json"), join(linked, "result.json"));
  symlinkSync(join(outside, "jobs"), join(root, "jobs", "more"));
  const loaded = await loadJob(join(root, "jobs"));
  expect(loaded.jobs).toHaveLength(1);
  expect(loaded.jobs[0]?.trials.map((trial) => trial.record.firstFailedTest)).toEqual([null]);
  expect(loaded.jobs[0]?.quarantined.map(({ reason }) => reason)).toEqual([
    "result.json is a link",
  ]);
});

test("a path without jobs says so and what to give instead", async () => {
  expect(await failure(join(root, "none"))).toMatchObject({ kind: "usage" });
  expect((await failure(root)).message).toBe(`no job in ${JSON.stringify(root)}`);
  writeFileSync(join(root, "file"), "");
  expect((await failure(join(root, "file"))).message).toContain("is not a folder");
});

test("repeats of a run whose images differ are noted, jobs of other settings are not", async () => {
  const [one, two] = ["01", "02"].map(
    (repeat) => `jobs/claude/trial-${repeat}/2026-11-04__18-24-21`,
  );
  put(one ?? "", { isolation: onImage(`sha256:${"a".repeat(64)}`) });
  put(two ?? "", { isolation: onImage(`sha256:${"b".repeat(64)}`) });
  put("jobs/2026-11-05__18-24-21", { isolation: onImage(`sha256:${"c".repeat(64)}`) });
  const loaded = await loadJob(join(root, "jobs"));
  expect(renderResultsNotes(loaded)).toEqual([
    "half-life was scored on 2 different images (sha256:aaaaaaaa, sha256:bbbbbbbb): its scores may not be comparable",
  ]);
  const { mixed_images: mixed } = toJobDocument(loaded);
  expect(mixed.map(({ jobs }) => jobs)).toEqual([[one, two].map((job) => join(root, job ?? ""))]);
});
