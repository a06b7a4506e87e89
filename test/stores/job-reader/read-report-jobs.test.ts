import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RequestRow } from "../../../core/model/exchange.ts";
import { evidenceOf, NO_EVIDENCE } from "../../../core/report/report-job.ts";
import { loadJob } from "../../../stores/job-reader/load-job.ts";
import { readReportJobs } from "../../../stores/job-reader/read-report-jobs.ts";
import { aRequestRow } from "../../core/outcome/a-request-row.ts";
import { NOTHING_SENT } from "../../core/report/report-builders.ts";
import { resultText } from "../files/result-text.ts";
import { tempFolder } from "../task-folders/temp-tasks.ts";

const NAME = "alpha__00000001";

function aLine(over: Partial<RequestRow>): string {
  return JSON.stringify(
    aRequestRow({ sampling: { ...NOTHING_SENT, max_tokens: 32_000 }, ...over }),
  );
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
    aLine({ sampling: { ...NOTHING_SENT, max_tokens: index } }),
  );
  const refused = aLine({ upstream_tries: 0, sampling: { ...NOTHING_SENT, max_tokens: 999 } });
  const { sampling } = await evidenceWith([refused, ...rows]);
  expect(sampling?.map((one) => one.max_tokens)).toEqual(Array.from({ length: 20 }, (_, at) => at));
});

test("the stop reason is that of the last main request, and a torn line tells nothing", async () => {
  const evidence = await evidenceWith([
    aLine({ stop_reason: "tool_use" }),
    aLine({ stop_reason: "max_tokens" }),
    aLine({ purpose: "title", stop_reason: "end_turn" }),
    '{"index": 3, "at_',
  ]);
  expect(evidence.stopReason).toBe("max_tokens");
  expect(evidence.sampling).toHaveLength(3);
});

test.each([
  { what: "one of another shape", lines: [aLine({}), '{"index":1}', aLine({})] },
  { what: "one of another shape at the end", lines: [aLine({}), '{"index":1}'] },
  { what: "one that is no JSON before others", lines: [aLine({}), "{", aLine({})] },
  { what: "none but a torn one", lines: ["{"] },
])(
  "requests are unknown, and no part of them is told for the whole, of rows with $what",
  async ({ lines }) => {
    const { sampling, stopReason } = await evidenceWith(lines);
    expect({ sampling, stopReason }).toEqual({ sampling: null, stopReason: null });
  },
);

test("a trajectory that is a link is not followed, and what is not there is unknown", async () => {
  const root = await tempFolder();
  const dir = join(root, "2026-11-04__18-00-00");
  await mkdir(join(dir, NAME), { recursive: true });
  await mkdir(join(root, "elsewhere"));
  await writeFile(join(root, "elsewhere/requests.jsonl"), aLine({}));
  await writeFile(join(dir, NAME, "result.json"), resultText("alpha"));
  await symlink(join(root, "elsewhere"), join(dir, NAME, "trajectory"));
  const [job] = await readReportJobs((await loadJob(dir)).jobs);
  if (job === undefined) throw new Error("no job");
  expect(job.evaluation).toBeNull();
  expect(evidenceOf(job, NAME)).toEqual(NO_EVIDENCE);
});
