import type { CardSetting } from "../model/run-card.ts";
import type { TrialRecord } from "../model/record.ts";
import { canonicalJson } from "../plan/canonical-json.ts";
import { compareNames } from "../plan/compare-names.ts";
import { groupBy } from "../plan/group-by.ts";
import type { Sha256 } from "../ports/hash.ts";
import type { Trial } from "../results/group-trials.ts";
import { evidenceOf, type ReportJob } from "./report-job.ts";

/** A trial with the job that it is of. */
export interface ReportTrial {
  readonly job: ReportJob;
  readonly trial: Trial;
}

/** An attempt with the job that it is of. */
export interface ReportAttempt {
  readonly job: ReportJob;
  readonly record: TrialRecord;
}

/** Trials that measured one thing, and what belongs to them without being one of them. */
export interface SettingGroup {
  readonly setting: CardSetting;
  readonly jobs: readonly ReportJob[];
  readonly trials: readonly ReportTrial[];
  /** Planned trials of their jobs that never started. */
  readonly neverStarted: readonly { readonly job: ReportJob; readonly taskName: string }[];
  /** Attempts that the jobs no longer count. */
  readonly superseded: readonly ReportAttempt[];
  /** Attempts that left no result; see `JobTrials`. */
  readonly killedAttempts: number;
}

/**
 * The trials by setting: agent and its versions, model asked and served, route, effort, sandbox, tool
 * and task set (spec 1.10). A score over several settings would measure none of them. Trials that do
 * not know which model served them, since they never got an answer, go with their job's first that does.
 */
export function groupBySetting(jobs: readonly ReportJob[], sha256: Sha256): SettingGroup[] {
  const parts = jobs.flatMap((job) => partsOf(job, sha256));
  const groups = groupBy(parts, ({ setting }) => canonicalJson(setting));
  return [...groups]
    .toSorted(([a], [b]) => compareNames(a, b))
    .flatMap(([, members]) => {
      const [first] = members;
      if (first === undefined) return [];
      return {
        setting: first.setting,
        jobs: members.flatMap((member) => member.jobs),
        trials: members.flatMap((member) => member.trials),
        neverStarted: members.flatMap((member) => member.neverStarted),
        superseded: members.flatMap((member) => member.superseded),
        killedAttempts: members.reduce((sum, member) => sum + member.killedAttempts, 0),
      };
    });
}

/**
 * A job's trials by what the trials themselves say of their setting. What nobody can tell it of goes
 * with the first, so that it is counted once.
 */
function partsOf(job: ReportJob, sha256: Sha256): SettingGroup[] {
  const trials = job.job.trials.map((trial) => ({ job, trial }));
  const known = trials.map(({ trial }) => ownFacts(job, trial.record)).toSorted(mostToldFirst);
  const keyOf = (record: TrialRecord): string =>
    canonicalJson(completeFacts(ownFacts(job, record), known));
  const byFacts = groupBy(trials, ({ trial }) => keyOf(trial.record));
  const [first = NOTHING_TOLD, ...others] = [...byFacts.keys()].toSorted(compareNames);
  const superseded = groupBy(job.job.superseded, (record) =>
    byFacts.has(keyOf(record)) ? keyOf(record) : first,
  );
  return [first, ...others].map((key) => {
    const members = byFacts.get(key) ?? [];
    const isFirst = key === first;
    return {
      setting: settingOf(job, members, sha256),
      jobs: [job],
      trials: members,
      neverStarted: isFirst ? job.job.neverStarted.map((taskName) => ({ job, taskName })) : [],
      superseded: (superseded.get(key) ?? []).map((record) => ({ job, record })),
      killedAttempts: isFirst ? job.job.killedAttempts : 0,
    };
  });
}

/** Of a job without trials. */
const NOTHING_TOLD = canonicalJson({ served: [], tool: null });

/** What can differ within a job: it was resumed by another version, or the provider served another model. */
function ownFacts(job: ReportJob, { rolloutName }: TrialRecord) {
  const { modelCalls, tool } = evidenceOf(job, rolloutName);
  return { served: modelCalls?.served_models.toSorted(compareNames) ?? [], tool };
}

type OwnFacts = ReturnType<typeof ownFacts>;

function mostToldFirst(a: OwnFacts, b: OwnFacts): number {
  const told = ({ served, tool }: OwnFacts): number =>
    (served.length > 0 ? 2 : 0) + (tool === null ? 0 : 1);
  return told(b) - told(a) || compareNames(canonicalJson(a), canonicalJson(b));
}

/** Of a trial that no model answered: as the first of its job that agrees in the rest. */
function completeFacts(own: OwnFacts, known: readonly OwnFacts[]): OwnFacts {
  if (own.served.length > 0) return own;
  return known.find(({ tool }) => own.tool === null || tool === own.tool) ?? own;
}

function settingOf(report: ReportJob, trials: readonly ReportTrial[], sha256: Sha256): CardSetting {
  const { job, evaluation } = report;
  const settings = evaluation?.settings ?? {};
  const config = evaluation?.config ?? {};
  const facts = trials.map(({ trial }) => ownFacts(report, trial.record));
  const served = uniqueNames(facts.flatMap((fact) => fact.served));
  return {
    agent: job.agent,
    agent_names: uniqueNames(trials.map(({ trial }) => trial.record.agentName)),
    agent_versions: versionsIn(settings["agent_versions"]),
    model: job.model,
    served_models: served.length === 0 ? null : served,
    route: textIn(settings["model_route"]),
    route_known: evaluation !== null && Object.keys(settings).length > 0,
    effort: textIn(config["reasoning_effort"]),
    effort_known: "reasoning_effort" in config,
    environment: textIn(config["environment"]),
    tool: facts.find(({ tool }) => tool !== null)?.tool ?? null,
    settings_digest: evaluation?.settings_digest ?? null,
    tasks_digest: sha256(canonicalJson(taskVersions(job))),
  };
}

/** The planned tasks at their versions; those that were tried where no plan is known. */
function taskVersions({ planned, trials }: ReportJob["job"]): [string, string | null][] {
  const tasks =
    planned?.tasks ??
    trials.map(({ taskName: name, record }) => ({ name, digest: record.taskDigest }));
  return tasks
    .map(({ name, digest }): [string, string | null] => [name, digest])
    .toSorted(([a], [b]) => compareNames(a, b));
}

export function uniqueNames(names: readonly string[]): string[] {
  return [...new Set(names.filter((name) => name !== ""))].toSorted(compareNames);
}

function textIn(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function versionsIn(value: unknown): Record<string, string> | null {
  if (typeof value !== "object" || value === null) return null;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, version]) =>
      typeof version === "string" ? [[name, version]] : [],
    ),
  );
}

/** What differs between the settings, in the words of a warning. */
export function differencesBetween(settings: readonly CardSetting[]): string[] {
  const words: readonly [keyof CardSetting, string][] = [
    ["agent", "agent"],
    ["agent_versions", "agent versions"],
    ["model", "model"],
    ["served_models", "served model"],
    ["route", "route"],
    ["effort", "effort"],
    ["environment", "sandbox"],
    ["tool", "tool version"],
    ["tasks_digest", "task set"],
    ["settings_digest", "settings digest"],
  ];
  return words.flatMap(([key, word]) => {
    const values = new Set(settings.map((setting) => canonicalJson(setting[key])));
    return values.size > 1 ? [word] : [];
  });
}
