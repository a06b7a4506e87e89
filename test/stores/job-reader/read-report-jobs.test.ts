import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RequestRow } from "../../../core/model/exchange.ts";
import { evidenceOf } from "../../../core/report/report-job.ts";
import { loadJob } from "../../../stores/job-reader/load-job.ts";
import { readReportJobs } from "../../../stores/job-reader/read-report-jobs.ts";
import { NOTHING_SENT } from "../../core/report/report-builders.ts";
import { resultText } from "../files/result-text.ts";
import { tempFolder } from "../task-folders/temp-tasks.ts";

const NAME = "alpha__00000001";

function aRow(over: Partial<RequestRow>): string {
  const row: RequestRow = {
    index: 0,
    at_utc: "2026-11-04T18:00:00.000Z",
    protocol: "anthropic-messages",
    path: "/v1/messages",
    purpose: "main",
    model_asked: "m",
    model_sent: "m",
    model_served: "m",
    end: "answered",
    status: 200,
    upstream_status: 200,
    upstream_tries: 1,
    try: 1,
    refusal: null,
    ttfb_ms: 1,
    duration_ms: 2,
    held_ms: 0,
    request_bytes: 1,
    response_bytes: 1,
    tools: 0,
    stream: true,
    sampling: { ...NOTHING_SENT, max_tokens: 32_000 },
    stop_reason: "end_turn",
    reply_failure: null,
    usage_status: "complete",
    tokens: null,
    reasoning_tokens: null,
    estimate: null,
    anomaly: null,
    cost_micro_usd: null,
    cost_status: "unpriced",
    price_source: null,
    unpriced: [],
    translation: null,
    ...over,
  };
  return JSON.stringify(row);
}

async function evidenceWith(requests: readonly string[]) {
  const dir = join(await tempFolder(), "2026-11-04__18-00-00");
  await mkdir(join(dir, NAME, "trajectory"), { recursive: true });
  await writeFile(join(dir, NAME, "result.json"), resultText("alpha"));
  await writeFile(join(dir, NAME, "trajectory/requests.jsonl"), requests.join("\n"));
  const [job] = await readReportJobs((await loadJob(dir)).jobs);
  if (job === undefined) throw new Error("no job");
  return evidenceOf(job, NAME);
}

test("sampling is that of the first 20 requests that went upstream", async () => {
  const rows = Array.from({ length: 25 }, (_, index) =>
    aRow({ sampling: { ...NOTHING_SENT, max_tokens: index } }),
  );
  const refused = aRow({ upstream_tries: 0, sampling: { ...NOTHING_SENT, max_tokens: 999 } });
  const { sampling } = await evidenceWith([refused, ...rows]);
  expect(sampling?.map((one) => one.max_tokens)).toEqual(Array.from({ length: 20 }, (_, at) => at));
});

test("the stop reason is that of the last main request, and a torn line tells nothing", async () => {
  const evidence = await evidenceWith([
    aRow({ stop_reason: "tool_use" }),
    aRow({ stop_reason: "max_tokens" }),
    aRow({ purpose: "title", stop_reason: "end_turn" }),
    '{"index": 3, "at_',
  ]);
  expect(evidence.stopReason).toBe("max_tokens");
  expect(evidence.sampling).toHaveLength(3);
});

test("a trajectory that is a link is not followed, and what is not there is unknown", async () => {
  const root = await tempFolder();
  const dir = join(root, "2026-11-04__18-00-00");
  await mkdir(join(dir, NAME), { recursive: true });
  await mkdir(join(root, "elsewhere"));
  await writeFile(join(root, "elsewhere/requests.jsonl"), aRow({}));
  await writeFile(join(dir, NAME, "result.json"), resultText("alpha"));
  await symlink(join(root, "elsewhere"), join(dir, NAME, "trajectory"));
  const [job] = await readReportJobs((await loadJob(dir)).jobs);
  if (job === undefined) throw new Error("no job");
  expect(job.evaluation).toBeNull();
  expect(evidenceOf(job, NAME)).toEqual({
    tool: null,
    agentLimitSec: null,
    source: null,
    modelCalls: null,
    sampling: null,
    stopReason: null,
    sealSha256: null,
  });
});
