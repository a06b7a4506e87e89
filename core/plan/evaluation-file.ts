import { EVALUATION_KIND } from "../model/evaluation.ts";
import type { JobPlan, RunPlan } from "../model/plan.ts";
import type { Json } from "./canonical-json.ts";
import { folderName } from "./task-skills.ts";

/**
 * evaluation.json of a repeat (spec 3.2, 14): BenchFlow's EvaluationConfig fields under `config`, and
 * what a resume needs beside them. `createdAt` is the job's first start, which a resume hands on, so
 * that a resume that changes nothing writes the same bytes. `pot` names the command's money, where it
 * has any, so that the same command goes on with it.
 */
export function evaluationFile(
  plan: RunPlan,
  job: JobPlan,
  createdAt: Date,
  pot: string | null = null,
): string {
  const tasks = job.trials.map(({ taskName, taskDigest, contextDigest }) => ({
    name: taskName,
    digest: taskDigest,
    context_digest: contextDigest,
  }));
  const file: Json = {
    kind: EVALUATION_KIND,
    schema_version: 1,
    tasks_dir: plan.settings.tasksDir,
    config: evaluationConfig(plan),
    settings_digest: plan.settingsDigest,
    settings: plan.scoreSettings,
    tasks,
    created_at_utc: createdAt.toISOString(),
    ...(pot === null ? {} : { pot }),
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** The contract's names. What this edition does not have is absent, never a made-up default. */
function evaluationConfig({ settings }: RunPlan): Record<string, Json> {
  return {
    agent: settings.agent,
    model: settings.model,
    reasoning_effort: settings.reasoningEffort,
    environment: settings.environment,
    concurrency: settings.concurrency,
    build_concurrency: settings.buildConcurrency,
    agent_env_keys: Object.keys(settings.agentEnv).toSorted(),
    prompts: settings.prompts.length === 0 ? null : settings.prompts,
    extra_instructions: settings.extraInstructions,
    retry: { max_retries: settings.retryAttempts },
    sandbox_user: settings.sandboxUser,
    agent_idle_timeout: settings.agentIdleTimeoutSec,
    timeout_multiplier: settings.timeoutMultiplier,
    include_tasks: settings.include.toSorted(),
    exclude_tasks: settings.exclude.toSorted(),
    n_tasks: settings.limit,
    sample_seed: settings.sampleSeed,
    shuffle_seed: settings.shuffleSeed,
    trials: settings.trials,
    lenient_rewards: settings.lenientRewards,
    freeze_workspace: settings.saveOutputs,
    job_mode: "parallel-independent",
    skill_mode: settings.skillMode,
    skills_dir: settings.skillsDir === null ? null : folderName(settings.skillsDir),
  };
}
