import { createHash } from "node:crypto";
import { Evaluation } from "../../../core/model/evaluation.ts";
import type { Sampling } from "../../../core/model/exchange.ts";
import type { TrialRecord } from "../../../core/model/record.ts";
import { buildRunCard, type CardInput } from "../../../core/report/build-run-card.ts";
import {
  type AttemptEvidence,
  NO_EVIDENCE,
  type ReportJob,
} from "../../../core/report/report-job.ts";
import type { PlannedMeasurement } from "../../../core/results/group-trials.ts";
import { toLoadedJob } from "../../../core/results/loaded-job.ts";
import { renderReport } from "../../../core/report/render-report.ts";
import { aRecord, type RecordWish } from "../results/a-record.ts";

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** What a test says of a job; the rest is a plain one. */
export interface JobWish {
  readonly path?: string;
  readonly repeat?: number | null;
  readonly records: readonly RecordWish[];
  readonly evaluation?: Record<string, unknown> | null;
  readonly planned?: PlannedMeasurement | null;
  /** The same of every attempt. */
  readonly evidence?: Partial<AttemptEvidence>;
}

export function aReportJob(wish: JobWish): ReportJob {
  const path = wish.path ?? "jobs/2026-11-04__18-15-46";
  const records: TrialRecord[] = wish.records.map((record) => aRecord(record));
  const loaded = toLoadedJob({
    path,
    jobName: path.split("/").at(-1) ?? path,
    alias: null,
    repeat: wish.repeat ?? null,
    planned: wish.planned ?? null,
    asked: null,
    records,
    interrupted: [],
    quarantined: [],
    recovered: [],
    files: new Map(),
    summary: null,
  });
  const evidence = records.map(({ rolloutName }): [string, AttemptEvidence] => [
    rolloutName,
    { ...NO_EVIDENCE, sealSha256: sha256(`${path}/${rolloutName}`), ...wish.evidence },
  ]);
  const evaluation = wish.evaluation === undefined ? {} : wish.evaluation;
  return {
    job: loaded,
    evaluation:
      evaluation === null ? null : Evaluation.parse({ tasks_dir: "tasks", ...evaluation }),
    budget: null,
    files: {},
    evidence: new Map(evidence),
  };
}

export function aCard(jobs: readonly ReportJob[], wish: Partial<CardInput> = {}) {
  return buildRunCard(
    {
      name: jobs[0]?.job.jobName ?? "none",
      scope: jobs.length > 1 ? "run" : "job",
      jobs,
      pathOf: (path) => (jobs.length > 1 ? path.replace(/^jobs\//u, "") : "."),
      ...wish,
    },
    sha256,
  );
}

export const NOTHING_SENT: Sampling = {
  max_tokens: null,
  temperature: null,
  top_p: null,
  top_k: null,
  seed: null,
  n: null,
  reasoning: null,
};

/** The trial of the mission page's report file: its numbers, in the shapes of our records. */
export function repairCafe(): ReportJob {
  return aReportJob({
    path: "jobs/2026-11-04__18-15-46",
    records: [
      {
        taskName: "repair-cafe",
        agent: "opencode",
        agentName: "OpenCode",
        model: "deepseek/deepseek-v4-flash",
        reward: 1,
        usage: usage(45_342, 0),
        timing: { agent_execution: 20, total: 29 },
      },
    ],
    evidence: {
      sampling: Array.from({ length: 6 }, () => ({ ...NOTHING_SENT, max_tokens: 32_000 })),
    },
  });
}

function usage(totalTokens: number, costUsd: number | null): TrialRecord["usage"] {
  return {
    inputTokens: totalTokens - 100,
    outputTokens: 100,
    cacheReadTokens: 0,
    cacheCreationTokens: 0,
    totalTokens,
    costUsd,
    usageSource: "provider_response",
    priceSource: null,
  };
}

const SKILLSBENCH = {
  type: "git",
  repo: "https://github.com/benchflow-ai/skillsbench.git",
  requested_ref: null,
  resolved_sha: "f860ecf02ef53412a030f8661c83d644b739ff01",
  path: "tasks/a-task",
  dirty: false,
} as const;

const MISSION_TASKS = [
  "crystallographic-wyckoff-position-analysis",
  "econ-detrending-correlation",
  "offer-letter-generator",
];

const MISSION_SETTINGS = {
  agent_versions: {
    "@anthropic-ai/claude-code": "2.1.280",
    "@agentclientprotocol/claude-agent-acp": "0.81.2",
  },
  retry_attempts: 2,
};

/** The mission page's three repeats of three tasks: 9 trials, 3,704,569 tokens, no price. */
export function missionRepeats(): ReportJob[] {
  const totals = [400_000, 405_000, 410_000, 411_000, 412_000, 413_000, 414_000, 415_000, 424_569];
  return [1, 2, 3].map((repeat) =>
    aReportJob({
      path: `jobs/claude-agent-acp/trial-0${String(repeat)}/2026-11-04__18-00-0${String(repeat)}`,
      repeat,
      records: MISSION_TASKS.map((taskName, index) => ({
        taskName,
        ...(index === 0 ? timedOut() : { reward: 1 }),
        usage: usage(totals[(repeat - 1) * 3 + index] ?? 0, null),
      })),
      evaluation: {
        config: { reasoning_effort: null, environment: "docker" },
        settings: MISSION_SETTINGS,
        settings_digest: "sha256:bb",
      },
      evidence: {
        tool: "BenchFlow 0.9.1",
        agentLimitSec: 900,
        source: SKILLSBENCH,
        sampling: [{ ...NOTHING_SENT, max_tokens: 64_000 }],
      },
    }),
  );
}

function timedOut(): RecordWish {
  return {
    outcome: { kind: "scored", reward: 0, passed: false, limit: "wall-clock" },
    rewards: { reward: 0 },
    error: { category: "timeout", message: "Agent prompt exceeded wall-clock budget 900s" },
    timing: { agent_execution: 900, total: 930 },
  };
}

/** Oracle and nop on the same three tasks. */
export function missionControls(): ReportJob[] {
  return ["oracle", "nop"].map((agent) =>
    aReportJob({
      path: `jobs/${agent}/2026-11-04__17-00-00`,
      records: MISSION_TASKS.map((taskName) => ({
        taskName,
        agent,
        agentName: agent,
        model: null,
        reward: agent === "oracle" ? 1 : 0,
        usage: usage(0, null),
      })),
      evaluation: {
        config: { reasoning_effort: null, environment: "docker" },
        settings: { agent_versions: {}, retry_attempts: 2 },
      },
      evidence: { tool: "BenchFlow 0.9.1", source: SKILLSBENCH },
    }),
  );
}

/** The card of one job of these records, its one setting and its report. */
export function reportOf(records: readonly RecordWish[], more: Partial<JobWish> = {}) {
  const card = aCard([aReportJob({ records, ...more })]);
  const [group] = card.groups;
  if (group === undefined) throw new Error("no group");
  return { card, group, text: renderReport(card) };
}

/** A job that planned these tasks at the version that `aRecord` has. */
export const plannedOf = (...names: string[]) => ({
  settingsDigest: "sha256:bb",
  tasks: names.map((name) => ({ name, digest: "sha256:aa", contextDigest: null })),
});
