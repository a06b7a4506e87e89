import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { renderCost } from "../../../core/report/console/cost-line.ts";
import { renderResultsTable } from "../../../core/report/console/results-table.ts";
import { toJobDocument } from "../../../core/results/job-document.ts";
import { renderTrialResult, trackNoUsage } from "../../../core/results/render-trial-result.ts";
import { loadJob } from "../../../stores/job-reader/load-job.ts";
import { aRecord } from "../../core/results/a-record.ts";

function aJob(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), "killed-attempts-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, "job", path, ".."), { recursive: true });
    writeFileSync(join(root, "job", path), text);
  }
  return join(root, "job");
}

const SEAL_OF_ANOTHER = JSON.stringify({
  schema_version: 1,
  files: [{ path: "result.json", size: 1, sha256: "0".repeat(64) }],
});

const KILLED = { "cut__0000000a/config.json": '{"agent": "script", "model": "xiaomi/mimo"}' };

test("what a killed attempt of a model cost is unknown, not 0", async () => {
  const loaded = await loadJob(aJob(KILLED));
  expect(loaded.jobs[0]?.spend).toMatchObject({
    attempts: 1,
    totalTokens: null,
    costUsd: null,
    uncountedAttempts: 1,
    unpricedAttempts: 1,
  });
  expect(toJobDocument(loaded).cost_usd).toBeNull();
});

test("what was counted beside a killed attempt is the least that was spent", async () => {
  const usage = { ...aRecord().usage, totalTokens: 5, costUsd: 0.25 };
  const result = renderTrialResult(aRecord({ taskName: "done", usage }), {
    trajectorySummary: null,
    usageTracking: trackNoUsage("local"),
    sandboxId: null,
    utcOffsetMinutes: 0,
  });
  const job = aJob({ ...KILLED, "done__0000000b/result.json": result });
  const [, row = ""] = renderResultsTable(await loadJob(job));
  expect(row).toMatch(/ >=5 +>=\$0\.25 /u);
});

test("a killed control is known to have used nothing", async () => {
  const loaded = await loadJob(aJob({ "cut__0000000a/config.json": '{"agent": "oracle"}' }));
  expect(loaded.jobs[0]?.spend).toMatchObject({ totalTokens: 0, uncountedAttempts: 0 });
});

const resultOf = (taskName: string): string =>
  renderTrialResult(
    aRecord({ taskName, usage: { ...aRecord().usage, totalTokens: 5, costUsd: 0.25 } }),
    {
      trajectorySummary: null,
      usageTracking: trackNoUsage("local"),
      sandboxId: null,
      utcOffsetMinutes: 0,
    },
  );

test.each([
  ["is torn", (text: string) => text.slice(0, -40), {}],
  ["is not what was sealed", (text: string) => `${text}\n`, { "seal.json": SEAL_OF_ANOTHER }],
])("what an attempt of a model cost whose result %s is unknown, not 0", async (_, damage, more) => {
  const files = {
    "torn__0000000a/config.json": '{"agent": "script", "model": "xiaomi/mimo"}',
    "torn__0000000a/result.json": damage(resultOf("torn")),
    "done__0000000b/result.json": resultOf("done"),
    ...Object.fromEntries(
      Object.entries(more).map(([name, text]) => [`torn__0000000a/${name}`, text]),
    ),
  };
  const loaded = await loadJob(aJob(files));
  const [job] = loaded.jobs;
  if (job === undefined) throw new Error("no job");
  expect(job.quarantined).toHaveLength(1);
  expect(job.spend).toMatchObject({
    attempts: 2,
    totalTokens: 5,
    costUsd: 0.25,
    uncountedAttempts: 1,
    unpricedAttempts: 1,
  });
  expect(renderCost(job)).toBe(">=$0.25, >=5 tokens (1 attempt left none that can be trusted)");
  const [, row = ""] = renderResultsTable(loaded);
  expect(row).toMatch(/ >=5 +>=\$0\.25 /u);
});

test("a control's torn result costs nothing all the same", async () => {
  const files = { "torn__0000000a/config.json": '{"agent": "oracle"}' };
  const loaded = await loadJob(aJob({ ...files, "torn__0000000a/result.json": "{" }));
  expect(loaded.jobs[0]?.spend).toMatchObject({ totalTokens: 0, uncountedAttempts: 0 });
});
