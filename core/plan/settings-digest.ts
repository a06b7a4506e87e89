import type { RunSettings } from "../model/settings.ts";
import type { Sha256 } from "../ports/hash.ts";
import { canonicalJson } from "./canonical-json.ts";
import type { Json } from "./canonical-json.ts";

/**
 * Raised whenever the same evidence would be scored differently. It stands in the digest in place of
 * the tool's version, so that an upgrade does not strand a half-finished sweep (design 4).
 */
export const SCORING_REVISION = 1;

/** A task that names no agent timeout gets this one, in seconds (design 12). */
export const DEFAULT_AGENT_TIMEOUT_SEC = 900;

/** What can change a score and is not among the settings themselves. */
export interface ScoreFacts {
  /** Package name -> version of what the agent runs; empty for the controls. */
  readonly agentVersions: Readonly<Record<string, string>>;
  /** Digest of the folder of skills that the agent gets; a task's own are part of its digest. */
  readonly skills: readonly string[];
  /** Variables of the agent's own, as `agentEnvMarks` tells them; absent for none. */
  readonly agentEnv?: Readonly<Record<string, string>>;
  /** Host and path of a base URL that is not the provider's own; null or absent for its own. */
  readonly modelRoute?: string | null;
  /** Digest of the file that describes the agent, with its lock; null or absent for one of this edition. */
  readonly agentFile?: string | null;
  /** Digest of the script that answers in the place of a model; null or absent for a model. */
  readonly modelScript?: string | null;
}

export const CONTROL_FACTS: ScoreFacts = { agentVersions: {}, skills: [] };

export type ScoreSettings = Readonly<Record<string, Json>>;

/**
 * Exactly what can change a score, apart from the tasks: two trials of equal score settings and equal
 * task digests measure the same thing. Not in it: selection, width, repeats, caps, folders, names,
 * `--fresh`, what is saved, and gates.
 */
export function scoreSettings(settings: RunSettings, facts: ScoreFacts): ScoreSettings {
  return {
    scoring_revision: SCORING_REVISION,
    agent: settings.agent,
    agent_versions: { ...facts.agentVersions },
    model: settings.model,
    reasoning_effort: settings.reasoningEffort,
    skills: [...facts.skills],
    prompts: [...settings.prompts],
    environment: settings.environment,
    sandbox_user: settings.sandboxUser,
    // Limits are each task's own, and part of its digest; this says that they are applied as written.
    resource_limits: "as-declared",
    default_agent_timeout_sec: DEFAULT_AGENT_TIMEOUT_SEC,
    agent_idle_timeout_sec: settings.agentIdleTimeoutSec,
    timeout_multiplier: settings.timeoutMultiplier,
    retry_attempts: settings.retryAttempts,
    lenient_rewards: settings.lenientRewards,
    local_include: settings.environment === "local" ? asSet(settings.localInclude) : [],
    pass_env: asSet(settings.passEnv),
    base_image_map: settings.baseImageMap,
    // Absent when they are off, so that jobs from before they were known keep their digest.
    ...(settings.withoutInternet ? { without_internet: true } : {}),
    ...wishesForAgent(settings, facts),
    ...(settings.maxOutputTokens === null ? {} : { max_output_tokens: settings.maxOutputTokens }),
    ...(settings.maxCostPerTrialUsd === null
      ? {}
      : { max_cost_per_trial_usd: settings.maxCostPerTrialUsd }),
    ...(facts.modelRoute == null ? {} : { model_route: facts.modelRoute }),
    ...(facts.agentFile == null ? {} : { agent_file: facts.agentFile }),
    ...(facts.modelScript == null ? {} : { model_script: facts.modelScript }),
  };
}

/** Absent where nothing was asked for, as above. */
function wishesForAgent(
  { extraInstructions, skillMode }: RunSettings,
  { agentEnv = {} }: ScoreFacts,
): ScoreSettings {
  return {
    ...(extraInstructions.length === 0 ? {} : { extra_instructions: [...extraInstructions] }),
    ...(skillMode === "no-skill" ? {} : { skill_mode: skillMode }),
    ...(Object.keys(agentEnv).length === 0 ? {} : { agent_env: { ...agentEnv } }),
  };
}

/** The settings digest: `sha256:<hex>` over the canonical JSON. */
export function digestSettings(score: ScoreSettings, sha256: Sha256): string {
  return `sha256:${sha256(canonicalJson(score))}`;
}

/**
 * One line for each setting that differs, `name: earlier -> now`, in order of name. A setting that
 * one side does not know counts as null there.
 */
export function differingSettings(earlier: ScoreSettings, now: ScoreSettings): string[] {
  const names = new Set([...Object.keys(earlier), ...Object.keys(now)]);
  return [...names].toSorted().flatMap((name) => {
    const [before, after] = [earlier, now].map((side) => canonicalJson(side[name] ?? null));
    return before === after ? [] : [`${name}: ${before} -> ${after}`];
  });
}

/** Order and doubles of such lists change nothing. */
function asSet(values: readonly string[]): string[] {
  return [...new Set(values)].toSorted();
}
