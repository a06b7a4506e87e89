import { lstatSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import * as z from "zod";
import { Evaluation } from "../../core/model/evaluation.ts";
import { RequestRow, type Sampling } from "../../core/model/exchange.ts";
import { BudgetSummary } from "../../core/model/ledger-budget.ts";
import { ModelCalls } from "../../core/model/model-calls.ts";
import { ResultSource } from "../../core/model/trial-result.ts";
import {
  type AttemptEvidence,
  type ReportJob,
  SAMPLED_REQUESTS,
} from "../../core/report/report-job.ts";
import type { LoadedJob } from "../../core/results/loaded-job.ts";
import { parseJson } from "../../core/usage/json-view.ts";
import { sha256Hex } from "../../host/sha256-hex.ts";
import { attemptNames } from "../files/read-attempts.ts";
import { readFileBytes } from "../files/read-file.ts";
import { SEAL_FILE } from "../files/seal-folder.ts";
import { readJsonFile, readTextFile } from "./read-text-file.ts";

const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Attempts read before other work of the process has its turn. */
const ATTEMPTS_AT_ONCE = 64;
/** A job's own files that numbers are read from or written to; reports themselves are not among them. */
const JOB_FILES = ["evaluation.json", "summary.json", "results.jsonl"];

/**
 * The jobs with what a report needs beside their records: settings, requests, seals. Files that are
 * not there, or cannot be read as what they claim to be, are unknown; no link is followed and nothing
 * is written.
 */
export async function readReportJobs(jobs: readonly LoadedJob[]): Promise<ReportJob[]> {
  const reports: ReportJob[] = [];
  for (const job of jobs) reports.push(await readReportJob(job));
  return reports;
}

async function readReportJob(job: LoadedJob): Promise<ReportJob> {
  const evidence = new Map<string, AttemptEvidence>();
  const names = await attemptNames(job.path);
  for (const [index, name] of names.entries()) {
    if (index % ATTEMPTS_AT_ONCE === 0) await setImmediate();
    evidence.set(name, readEvidence(join(job.path, name)));
  }
  const evaluation = readJsonFile(join(job.path, "evaluation.json"), MAX_FILE_BYTES);
  return {
    job,
    evaluation: Evaluation.safeParse(evaluation).data ?? null,
    budget: Budgeted.safeParse(job.summary).data?.budget ?? null,
    files: hashesOf(job.path),
    evidence,
  };
}

const Budgeted = z.object({ budget: BudgetSummary });

function hashesOf(jobDir: string): Record<string, string> {
  return Object.fromEntries(
    JOB_FILES.flatMap((name) => {
      const sha256 = hashOf(join(jobDir, name));
      return sha256 === null ? [] : [[name, sha256]];
    }),
  );
}

function hashOf(path: string): string | null {
  const found = readFileBytes(path, MAX_FILE_BYTES);
  return found.kind === "read" ? sha256Hex(found.bytes) : null;
}

const ResultPart = z.object({
  model_calls: ModelCalls.nullish().catch(null),
  agent_timeout_info: z.object({ timeout_sec: z.number() }).nullish().catch(null),
  source: ResultSource.nullish().catch(null),
});
const ConfigPart = z.object({
  timeout_sec: z.number().positive().nullish().catch(null),
  tool: z.string().nullish().catch(null),
});

function readEvidence(attemptDir: string): AttemptEvidence {
  const result = ResultPart.safeParse(
    readJsonFile(join(attemptDir, "result.json"), MAX_FILE_BYTES),
  );
  const config = ConfigPart.safeParse(
    readJsonFile(join(attemptDir, "config.json"), MAX_FILE_BYTES),
  );
  const requests = readRequests(attemptDir);
  return {
    tool: config.data?.tool ?? null,
    agentLimitSec: config.data?.timeout_sec ?? result.data?.agent_timeout_info?.timeout_sec ?? null,
    source: result.data?.source ?? null,
    modelCalls: result.data?.model_calls ?? null,
    sampling: requests === null ? null : firstSampled(requests),
    stopReason: requests === null ? null : lastStop(requests),
    sealSha256: hashOf(join(attemptDir, SEAL_FILE)),
  };
}

/**
 * Null where no request was recorded: by BenchFlow, and by controls, which send none. Null too where a
 * row is not as this edition writes it, since the others alone would tell a part for the whole.
 */
function readRequests(attemptDir: string): RequestRow[] | null {
  const folder = join(attemptDir, "trajectory");
  // A link in the place of the folder would lead out of the job.
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return null;
  const found = readTextFile(join(folder, "requests.jsonl"), MAX_FILE_BYTES);
  if (found.kind !== "text") return null;
  const values = found.text
    .split("\n")
    .filter((line) => line !== "")
    .map(parseJson);
  // A kill tears off the last line, which tells nothing, and no other.
  const isTorn = values.length > 1 && values.at(-1) === undefined;
  return RequestRows.safeParse(isTorn ? values.slice(0, -1) : values).data ?? null;
}

const RequestRows = z.array(RequestRow);

/** Of what went upstream: a request that the proxy refused carried nothing to anyone. */
function firstSampled(rows: readonly RequestRow[]): Sampling[] {
  return rows
    .flatMap(({ sampling, upstream_tries: tries }) => (tries > 0 && sampling ? sampling : []))
    .slice(0, SAMPLED_REQUESTS);
}

function lastStop(rows: readonly RequestRow[]): string | null {
  return rows.findLast(({ purpose }) => purpose === "main")?.stop_reason ?? null;
}
