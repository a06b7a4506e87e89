import pLimit from "p-limit";
import { BenchError } from "../../core/errors.ts";
import type { CloudRun } from "../../core/model/cloud-work.ts";
import type { Quarantined, TrialRecord } from "../../core/model/record.ts";
import type { RunManifest } from "../../core/model/run-manifest.ts";
import { Seal } from "../../core/model/seal.ts";
import { readEarlierAttempt } from "../../core/plan/read-earlier-jobs.ts";
import type { ObjectStore } from "../../core/ports/object-store.ts";
import type { StoredAttempt } from "../../core/ports/job-store.ts";
import { jobFactsOf, measurementOf } from "../../core/results/job-facts.ts";
import { renderSummary, summarizeJob } from "../../core/results/summarize-job.ts";
import { sha256Hex } from "../../host/sha256-hex.ts";
import { bodyOfBytes, readObject } from "../../stores/objects/object-body.ts";
import { readRun } from "../../stores/objects/read-run.ts";
import type { RunLayout } from "../../stores/objects/run-layout.ts";

const WIDTH = 64;
const REPLACE_TRIES = 5;

export interface Aggregated {
  /** Attempts of the run that have a seal. */
  readonly attempts: number;
}

/**
 * Makes a run's manifest.json of its sealed attempts, and, where they are all that its job has, summary.json
 * by the functions that a run on one's own computer uses. May be done at any time and any number of times:
 * the same attempts give the same bytes. No manifest names the summary: a sync makes its own of the job's
 * whole folder, which may hold attempts of other runs. Throws `BenchError` (`unavailable`).
 */
export async function aggregateRun(store: ObjectStore, layout: RunLayout): Promise<Aggregated> {
  const run = await readRun(store, layout);
  if (run === null) {
    throw new BenchError("unavailable", `there is no run ${layout.run}`, {
      next: "`bench run --env fargate` starts one",
    });
  }
  const found = await readAttempts(store, layout, run.rollouts);
  const text = summaryOf(run, found);
  if (text !== null) await replace(store, layout.jobFile("summary.json"), Buffer.from(text));
  const evaluation = await readObject(store, layout.jobFile("evaluation.json"));
  const manifest: RunManifest = {
    schema_version: 1,
    // A runner whose state has ended may still seal and send.
    complete: found.length === run.rollouts.length,
    files: evaluation === null ? [] : [fileOf("evaluation.json", evaluation)],
    attempts: found.map(({ stored, sealSha256 }) => ({
      rollout_name: stored.rolloutName,
      seal_sha256: sealSha256,
    })),
  };
  await replace(store, layout.manifest, Buffer.from(`${JSON.stringify(manifest)}\n`));
  return { attempts: found.length };
}

interface FoundAttempt {
  readonly stored: StoredAttempt;
  readonly sealSha256: string;
}

/** By name from the plan, not by listing: one small object each, in the order of their names. */
async function readAttempts(
  store: ObjectStore,
  layout: RunLayout,
  rollouts: readonly string[],
): Promise<FoundAttempt[]> {
  const limit = pLimit(WIDTH);
  const found = await Promise.all(
    [...rollouts].toSorted().map((name) => limit(() => readAttempt(store, layout, name))),
  );
  return found.filter((attempt) => attempt !== null);
}

async function readAttempt(
  store: ObjectStore,
  layout: RunLayout,
  rolloutName: string,
): Promise<FoundAttempt | null> {
  const attempt = layout.attempt(rolloutName);
  const sealBytes = await readObject(store, attempt.object("seal"));
  if (sealBytes === null) return null;
  const result = await readObject(store, attempt.object("result"));
  const seal = Seal.safeParse(JSON.parse(new TextDecoder().decode(sealBytes))).data;
  const files = seal?.files ?? [];
  const sealed = files.find(({ path }) => path === "result.json")?.sha256;
  const stored: StoredAttempt = {
    rolloutName,
    path: rolloutName,
    result: result === null ? null : new TextDecoder().decode(result),
    seal: result !== null && sealed === sha256Hex(result) ? "intact" : "broken",
    problem: result === null ? "is gone, and seal.json lists it" : null,
    hasEvidence: files.some(({ path }) => path.startsWith("evidence/")),
  };
  return { stored, sealSha256: sha256Hex(sealBytes) };
}

/** Null for a job that has attempts of earlier runs, which are not all in the account. */
function summaryOf(
  { plan, repeat, job_name: jobName }: CloudRun,
  found: readonly FoundAttempt[],
): string | null {
  const job = plan.jobs.find((each) => each.repeat === repeat);
  if (job === undefined) throw new Error(`the plan has no repeat ${repeat}`);
  if (job.trials.some(({ action, attempt }) => action !== "run" || attempt > 1)) return null;
  const records: TrialRecord[] = [];
  const quarantined: Quarantined[] = [];
  for (const { stored } of found) {
    const attempt = readEarlierAttempt(stored);
    if (attempt.kind === "ended") records.push(attempt.record);
    if (attempt.kind === "quarantined")
      quarantined.push({ path: stored.path, reason: attempt.reason });
  }
  const planned = measurementOf(plan, job);
  // Only controls run there so far, and what a control used is known to be nothing.
  const evidence = { records, planned, quarantined, killedAttempts: 0 };
  return renderSummary(summarizeJob(jobFactsOf(plan, jobName), evidence));
}

/** The last writer may be another aggregate: then its version is read and replaced in turn. */
async function replace(store: ObjectStore, key: string, bytes: Uint8Array): Promise<void> {
  for (let tries = 0; tries < REPLACE_TRIES; tries += 1) {
    const there = await store.open(key);
    if (there !== null) for await (const _ of there.bytes);
    if ((await store.replace(key, bytes, there?.version ?? null)) !== null) return;
  }
  throw new BenchError("unavailable", `${key} is being written by others all the time`, {
    next: "run the same command again",
  });
}

function fileOf(path: string, bytes: Uint8Array) {
  const { sizeBytes: size, sha256: hash } = bodyOfBytes(bytes);
  return { path, size, sha256: hash };
}
