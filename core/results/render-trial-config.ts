import type { AttemptSpec } from "../model/trial.ts";
import type { TrialConfig } from "../model/trial-config.ts";
import type { Scene, SkillFields } from "../model/trial-result.ts";
import { TOOL } from "../tool-version.ts";
import { toLocalStamp } from "./local-stamp.ts";
import { SINGLE_SHOT, toResultSource } from "./render-trial-result.ts";

/** What config.json tells beside the attempt's own spec. */
export interface TrialConfigFacts {
  readonly reasoningEffort: string | null;
  /** The user that the agent runs as; null when it runs as root. */
  readonly sandboxUser: string | null;
  /** Paths inside the sandbox that the agent's user cannot enter. */
  readonly lockedPaths: readonly string[];
  readonly setupTimeoutSec: number;
  readonly concurrency: number;
  readonly skills: SkillFields;
  /** Without the secret ones. */
  readonly agentEnv: Readonly<Record<string, string>>;
  readonly scenes: readonly Scene[];
  /** UTC, with `Z`. */
  readonly startedAt: string;
  readonly utcOffsetMinutes: number;
}

/** The whole text of config.json (spec 1.5): indent 2, final newline. */
export function renderTrialConfig(spec: AttemptSpec, facts: TrialConfigFacts): string {
  const { task } = spec;
  const role = { agent: spec.agent, model: spec.model, reasoning_effort: facts.reasoningEffort };
  const config: TrialConfig = {
    task_path: task.source?.path ?? task.name,
    ...role,
    environment: spec.environment,
    acp_transport: spec.environment === "docker" ? "docker-stdio" : "provider-default",
    environment_manifest: null,
    ...facts.skills,
    sandbox_user: facts.sandboxUser,
    sandbox_locked_paths: [...facts.lockedPaths],
    sandbox_setup_timeout: facts.setupTimeoutSec,
    skip_install: false,
    agent_install_timeout: null,
    context_root: null,
    base_image_override: null,
    verifier_sandbox_mode: "shared",
    verifier_include: [],
    timeout_sec: spec.agentTimeoutSec,
    concurrency: facts.concurrency,
    agent_idle_timeout_sec: spec.idleTimeoutSec === 0 ? null : spec.idleTimeoutSec,
    started_at: toLocalStamp(facts.startedAt, facts.utcOffsetMinutes),
    agent_env: { ...facts.agentEnv },
    scenes: [...facts.scenes],
    loop: SINGLE_SHOT,
    usage_tracking: { requested: "auto" },
    ...(task.source ? { source: toResultSource(task.source) } : {}),
    task_digest: task.digest,
    started_at_utc: facts.startedAt,
    attempt: spec.attempt,
    settings_digest: spec.settingsDigest,
    verifier_timeout_sec: spec.verifierTimeoutSec,
    verify_only_from: spec.verifyOnlyFrom,
    tool: TOOL,
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
