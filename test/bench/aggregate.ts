// Measures reading and counting a job of 10,000 trials: `tsx test/bench/aggregate.ts [TRIALS]`.
// Prints one JSON object; the limit is 10 s for 10,000 result.json (issue 3, "It must show" 5).
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHash } from "node:crypto";
import type { TrialRecord } from "../../core/model/record.ts";
import { renderResultsTable } from "../../core/report/console/results-table.ts";
import type { EndedTrial } from "../../core/results/ended-trial.ts";
import { renderSideFiles } from "../../core/results/render-side-files.ts";
import { renderTrialResult, trackNoUsage } from "../../core/results/render-trial-result.ts";
import { renderSummary, summarizeJob } from "../../core/results/summarize-job.ts";
import { loadJob } from "../../stores/job-reader/load-job.ts";
import { readJobLines } from "../../stores/job-reader/read-job-lines.ts";
import { aRecord } from "../core/results/a-record.ts";

const trials = Number(process.argv[2] ?? 10_000);
const root = mkdtempSync(join(tmpdir(), "bench-aggregate-"));

/** An attempt's folder with every file that the readers look at, sealed as the runner does it. */
function putTrial(record: TrialRecord): void {
  const dir = join(root, record.rolloutName);
  const trial: EndedTrial = {
    record,
    instruction: "Write the half-life of the isotope to /app/out.txt.",
    prompts: [],
    events: [{ type: "oracle", command: "solution/solve.sh", return_code: 0, stdout: "" }],
    rolloutDir: `jobs/job/${record.rolloutName}`,
    utcOffsetMinutes: 0,
  };
  const result = renderTrialResult(record, {
    trajectorySummary: null,
    usageTracking: trackNoUsage("local"),
    sandboxId: null,
    utcOffsetMinutes: 0,
  });
  for (const folder of ["trainer", "verifier", "trajectory"]) {
    mkdirSync(join(dir, folder), { recursive: true });
  }
  for (const [path, text] of renderSideFiles(trial)) writeFileSync(join(dir, path), text);
  writeFileSync(join(dir, "verifier/reward.txt"), "1\n");
  writeFileSync(join(dir, "result.json"), result);
  const sha256 = createHash("sha256").update(result).digest("hex");
  const files = [{ path: "result.json", size: Buffer.byteLength(result), sha256 }];
  writeFileSync(join(dir, "seal.json"), JSON.stringify({ schema_version: 1, files }));
}

async function measure<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const startedMs = performance.now();
  const result = await work();
  return [result, Math.round(performance.now() - startedMs) / 1000];
}

try {
  for (let index = 0; index < trials; index += 1) {
    const taskName = `task-${String(index).padStart(6, "0")}`;
    putTrial(aRecord({ taskName, agent: "oracle", reward: index % 3 === 0 ? 0 : 1 }));
  }
  const [loaded, loadSec] = await measure(() => loadJob(root));
  const [job] = loaded.jobs;
  if (job === undefined || job.counts.total !== trials) throw new Error("trials were lost");
  const facts = {
    jobName: job.jobName,
    agent: job.agent,
    model: job.model,
    environment: "local" as const,
    concurrency: 4,
    agentIdleTimeoutSec: 600,
  };
  const [summary, summarizeSec] = await measure(async () =>
    renderSummary(summarizeJob(facts, job)),
  );
  const names = job.trials.map((trial) => trial.record.rolloutName);
  const [lines, linesSec] = await measure(() => readJobLines(root, names));
  const [table, tableSec] = await measure(async () => renderResultsTable(loaded));
  const measured = {
    bench: "aggregate",
    trials,
    node: process.version,
    load_sec: loadSec,
    summarize_sec: summarizeSec,
    lines_sec: linesSec,
    table_sec: tableSec,
    total_sec: Math.round((loadSec + summarizeSec + linesSec + tableSec) * 1000) / 1000,
    rss_mb: Math.round(process.memoryUsage().rss / 1024 / 1024),
    summary_bytes: summary.length,
    lines_bytes: [...lines.values()].reduce((sum, text) => sum + text.length, 0),
    table_lines: table.length,
  };
  console.log(JSON.stringify(measured, null, 2));
} finally {
  rmSync(root, { recursive: true, force: true });
}
