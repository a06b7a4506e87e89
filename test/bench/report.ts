// Measures report, card and verification of a job of 10,000 trials: `tsx test/bench/report.ts [TRIALS]`.
// Prints one JSON object; the limits are 10 s and 400 MB for the report (issue 5, "It must show" 3).
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readRunCard } from "../../api/read-reports.ts";
import { renderRunCard } from "../../core/report/build-run-card.ts";
import { renderReport } from "../../core/report/render-report.ts";
import { renderTrialResult, trackProxiedUsage } from "../../core/results/render-trial-result.ts";
import { checkJobSeals } from "../../stores/job-reader/check-job-seals.ts";
import { aRecord } from "../core/results/a-record.ts";

const trials = Number(process.argv[2] ?? 10_000);
const root = mkdtempSync(join(tmpdir(), "bench-report-"));

/** The files of an attempt that a report reads, sealed. */
function putTrial(index: number): void {
  const taskName = `task-${String(index).padStart(6, "0")}`;
  const record = aRecord({ taskName, reward: index % 3 === 0 ? 0 : 1 });
  const dir = join(root, record.rolloutName);
  mkdirSync(join(dir, "trajectory"), { recursive: true });
  const result = renderTrialResult(record, {
    trajectorySummary: null,
    usageTracking: trackProxiedUsage("local"),
    sandboxId: null,
    utcOffsetMinutes: 0,
  });
  writeFileSync(join(dir, "result.json"), result);
  writeFileSync(join(dir, "config.json"), JSON.stringify({ timeout_sec: 900, tool: "x 1" }));
  writeFileSync(join(dir, "trajectory/requests.jsonl"), "");
  const sha256 = createHash("sha256").update(result).digest("hex");
  const files = [{ path: "result.json", size: Buffer.byteLength(result), sha256 }];
  writeFileSync(join(dir, "seal.json"), JSON.stringify({ schema_version: 1, files }));
}

function round(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}

try {
  for (let index = 0; index < trials; index += 1) putTrial(index);
  const [started, startedCpu] = [performance.now(), process.cpuUsage()];
  const card = await readRunCard(root);
  const text = renderReport(card);
  const cardText = renderRunCard(card);
  const reportSec = (performance.now() - started) / 1000;
  const cpu = process.cpuUsage(startedCpu);
  const reportRssMb = Math.round(process.resourceUsage().maxRSS / 1024);
  const sealStarted = performance.now();
  const seals = await checkJobSeals(root);
  console.log(
    JSON.stringify(
      {
        bench: "report",
        trials,
        node: process.version,
        report_sec: round(reportSec),
        report_cpu_sec: round((cpu.user + cpu.system) / 1e6),
        report_peak_rss_mb: reportRssMb,
        report_bytes: Buffer.byteLength(text),
        card_bytes: Buffer.byteLength(cardText),
        seals_sec: round((performance.now() - sealStarted) / 1000),
        sealed_files: seals.sealedFiles,
      },
      null,
      2,
    ),
  );
} finally {
  rmSync(root, { recursive: true, force: true });
}
