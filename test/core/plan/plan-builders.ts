import { createHash } from "node:crypto";
import { BenchError } from "../../../core/errors.ts";
import { Evaluation } from "../../../core/model/evaluation.ts";
import type { RunPlan } from "../../../core/model/plan.ts";
import type { Outcome } from "../../../core/model/outcome.ts";
import { TrialRecord } from "../../../core/model/record.ts";
import { RunSettings } from "../../../core/model/settings.ts";
import type { RunSettingsInput } from "../../../core/model/settings.ts";
import { Task } from "../../../core/model/task.ts";
import type { EarlierAttempt, EarlierJob } from "../../../core/plan/earlier-job.ts";
import type { PlanRequest } from "../../../core/plan/plan-run.ts";
import {
  CONTROL_FACTS,
  digestSettings,
  scoreSettings,
} from "../../../core/plan/settings-digest.ts";
import type { SandboxCaps } from "../../../core/ports/sandbox.ts";
import { NO_USAGE } from "../../../runner/agents/agent.ts";

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

export const digestOf = (text: string): string => `sha256:${sha256(text)}`;

export function someSettings(over: Partial<RunSettingsInput> = {}): RunSettings {
  return RunSettings.parse({ tasksDir: "tasks", agent: "oracle", environment: "local", ...over });
}

export function digestOfSettings(settings: RunSettings): string {
  return digestSettings(scoreSettings(settings, CONTROL_FACTS), sha256);
}

export function aTask(name: string, over: Partial<Task> = {}): Task {
  return Task.parse({
    name,
    dir: `/tasks/${name}`,
    layout: "harbor",
    prompt: "do it",
    config: {},
    digest: digestOf(name),
    image: { kind: "dockerfile", contextDigest: digestOf("context") },
    environmentDir: "environment",
    verifierDir: "tests",
    oracleDir: "solution",
    verifierCommand: "./test.sh",
    compose: false,
    simulatedUser: false,
    refusals: [],
    warnings: [],
    source: null,
    ...over,
  });
}

export const scored = (reward: number): Outcome => ({
  kind: "scored",
  reward,
  passed: reward === 1,
  limit: null,
});

export const unscored = (over: Partial<Extract<Outcome, { kind: "unscored" }>> = {}): Outcome => ({
  kind: "unscored",
  fault: "infrastructure",
  category: "infra_failure",
  detail: "the sandbox was lost",
  phase: "agent",
  verifyOnly: false,
  afterAgent: false,
  ...over,
});

export function aRecord(taskName: string, over: Partial<TrialRecord> = {}): TrialRecord {
  const attempt = over.attempt === undefined ? 1 : over.attempt;
  return TrialRecord.parse({
    taskName,
    rolloutName: `${taskName}__${(attempt ?? 0).toString(16).padStart(8, "0")}`,
    taskDigest: digestOf(taskName),
    contextDigest: digestOf("context"),
    settingsDigest: digestOfSettings(someSettings()),
    attempt,
    agent: "oracle",
    agentName: "oracle",
    model: null,
    outcome: scored(1),
    rewards: null,
    error: null,
    verifierError: null,
    toolCalls: 0,
    skillInvocations: 0,
    prompts: 0,
    trajectory: null,
    usage: NO_USAGE,
    startedAt: "2026-11-04T18:24:21.000Z",
    finishedAt: "2026-11-04T18:25:21.000Z",
    timing: {},
    spans: [],
    resources: null,
    isolation: null,
    workspaceSaved: false,
    firstFailedTest: null,
    ...over,
  });
}

export function ended(taskName: string, over: Partial<TrialRecord> = {}): EarlierAttempt {
  const record = aRecord(taskName, over);
  return { kind: "ended", rolloutName: record.rolloutName, taskName, record };
}

export function unfinished(taskName: string, hex8 = "ffffffff"): EarlierAttempt {
  return { kind: "unfinished", taskName, rolloutName: `${taskName}__${hex8}` };
}

export function anEarlierJob(
  attempts: readonly EarlierAttempt[] | null,
  over: Partial<EarlierJob> & { readonly settings?: RunSettings } = {},
): EarlierJob {
  const { settings = someSettings(), ...rest } = over;
  const jobName = rest.jobName ?? "2026-11-04__18-24-21";
  const jobsDir = rest.jobsDir ?? "jobs";
  const tasks = [...new Set((attempts ?? []).map(({ taskName }) => taskName))];
  return {
    jobsDir,
    jobName,
    dir: `${jobsDir}/${jobName}`,
    evaluation: Evaluation.parse({
      tasks_dir: settings.tasksDir,
      settings_digest: digestOfSettings(settings),
      settings: scoreSettings(settings, CONTROL_FACTS),
      tasks: tasks.map((name) => ({
        name,
        digest: digestOf(name),
        context_digest: digestOf("context"),
      })),
    }),
    evaluationProblem: null,
    foreign: false,
    attempts,
    ...rest,
  };
}

export const ALL_CAPS: SandboxCaps = {
  rootExec: true,
  uidSeparation: true,
  noNewPrivs: true,
  noNetwork: "phase",
  publicNetwork: true,
  compose: false,
  limits: { memory: true, cpu: true, pids: true, disk: true },
  maxCpus: null,
  processors: null,
  maxLifetimeMs: null,
  platform: "linux/amd64",
};

export function aRequest(over: Partial<PlanRequest> = {}): PlanRequest {
  const settings = over.settings ?? someSettings();
  return {
    settings,
    score: scoreSettings(settings, CONTROL_FACTS),
    settingsDigest: digestOfSettings(settings),
    tasks: [aTask("alpha"), aTask("beta")],
    skipped: [],
    earlier: [],
    caps: ALL_CAPS,
    newJobName: "2026-11-05__09-00-00",
    ...over,
  };
}

/** `repeat/task` of every trial that the plan starts, in order. */
export const startedBy = (plan: RunPlan): string[] =>
  plan.jobs.flatMap((job) =>
    job.trials
      .filter(({ action }) => action === "run" || action === "verify-only")
      .map(({ taskName }) => `${job.repeat}/${taskName}`),
  );

export function refusalOf(act: () => unknown): BenchError {
  try {
    act();
  } catch (error) {
    if (error instanceof BenchError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}
