import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { planRun } from "../../core/plan/plan-run.ts";
import { readEarlierJobs } from "../../core/plan/read-earlier-jobs.ts";
import { repeatDirs } from "../../core/plan/repeat-dirs.ts";
import { FileJobStore } from "../../stores/files/file-job-store.ts";
import { aRequest, aTask, digestOfSettings, someSettings } from "../core/plan/plan-builders.ts";
import { EVALUATION, JOB_NAME, resultText } from "../stores/files/result-text.ts";

/**
 * Times planning of 10,000 tasks x 3 repeats: from nothing, and from a tree in which every trial but
 * one of each repeat was scored. Prints one JSON object; `npm run bench:local` keeps it.
 */
const TASKS = Number(process.argv[2] ?? 10_000);
const REPEATS = 3;

const root = await mkdtemp(join(tmpdir(), "bench-plan-"));
try {
  const settings = someSettings({ jobsDir: join(root, "jobs"), trials: REPEATS });
  const names = Array.from({ length: TASKS }, (_, index) => `task-${index}`);
  const tasks = names.map((name) => aTask(name));
  const question = { settings, settingsDigest: digestOfSettings(settings) };
  const store = new FileJobStore(settings.jobsDir);
  const request = aRequest({ settings, tasks });
  const fresh = await timed(async () => planRun(request));
  for (const { jobsDir } of repeatDirs(settings)) await writeJob(jobsDir, names.slice(1));
  const read = await timed(async () => await readEarlierJobs(store, question));
  const resumed = await timed(async () => planRun({ ...request, earlier: read.value }));
  const { forecast } = resumed.value;
  if (forecast.toRun !== REPEATS || forecast.planned !== TASKS * REPEATS) {
    throw new Error(`wrong plan: ${JSON.stringify(forecast)}`);
  }
  console.log(
    JSON.stringify({
      bench: "plan",
      tasks: TASKS,
      repeats: REPEATS,
      planFreshMs: fresh.elapsedMs,
      readEarlierMs: read.elapsedMs,
      planResumedMs: resumed.elapsedMs,
      totalMs: read.elapsedMs + resumed.elapsedMs,
      limitMs: 5000,
      peakRssMb: Math.round(process.resourceUsage().maxRSS / 1024),
    }),
  );
} finally {
  await rm(root, { recursive: true });
}

interface Timed<Value> {
  readonly value: Value;
  readonly elapsedMs: number;
}

async function timed<Value>(work: () => Promise<Value>): Promise<Timed<Value>> {
  const startedAt = performance.now();
  const value = await work();
  return { value, elapsedMs: Math.round(performance.now() - startedAt) };
}

/** Written without the store, whose syncs would take minutes; the bytes are the same. */
async function writeJob(jobsDir: string, names: readonly string[]): Promise<void> {
  const dir = join(jobsDir, JOB_NAME);
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, "evaluation.json"), EVALUATION);
  for (const name of names) {
    const attemptDir = join(dir, `${name}__00000001`);
    const result = resultText(name);
    await mkdir(attemptDir);
    await writeFile(join(attemptDir, "result.json"), result);
    const sha256 = createHash("sha256").update(result).digest("hex");
    const files = [{ path: "result.json", size: Buffer.byteLength(result), sha256 }];
    await writeFile(join(attemptDir, "seal.json"), JSON.stringify({ schema_version: 1, files }));
  }
}
