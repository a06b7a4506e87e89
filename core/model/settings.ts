import * as z from "zod";

/** The controls and the hidden script agent: the agents that call no model. */
export const ControlAgent = z.enum(["oracle", "nop", "script"]);
export type ControlAgent = z.infer<typeof ControlAgent>;

export const SandboxKind = z.enum(["local", "docker", "fargate", "e2b"]);
export type SandboxKind = z.infer<typeof SandboxKind>;

/** Whether agents get skills (spec 1.4 #7); a third mode, in which one agent writes them, is not built. */
export const SkillMode = z.enum(["no-skill", "with-skill"]);
export type SkillMode = z.infer<typeof SkillMode>;

export const FailOn = z.enum(["timeout", "error", "verifier-error"]);
export type FailOn = z.infer<typeof FailOn>;

/**
 * Everything one `bench run` was asked to do. Flags, `EvaluationConfig` and evaluation.json all
 * parse into this one shape. Which of it can change a score: `scoreSettings` in core/plan.
 */
export const RunSettings = z.object({
  tasksDir: z.string(),
  include: z.array(z.string()).default([]),
  exclude: z.array(z.string()).default([]),
  /** First N by name, or N drawn with `sampleSeed`. */
  limit: z.int().min(1).nullable().default(null),
  sampleSeed: z.int().nullable().default(null),
  shuffleSeed: z.int().nullable().default(null),
  strictTasks: z.boolean().default(false),

  agent: z.string().default("claude-agent-acp"),
  model: z.string().nullable().default(null),
  /** The file that describes `agent`; null for an agent of this edition. */
  agentFile: z.string().nullable().default(null),
  /** The file that describes providers of the person's own. */
  providerFile: z.string().nullable().default(null),
  /** Path of the script that answers in the place of a model; `model` is then `scripted/<its name>`. */
  modelScript: z.string().nullable().default(null),
  reasoningEffort: z.string().nullable().default(null),
  environment: SandboxKind.default("docker"),
  /** In the place of the task's own prompt; several are sent one after another. */
  prompts: z.array(z.string()).default([]),
  /** At the end of the first prompt. */
  extraInstructions: z.array(z.string()).default([]),
  /** Variables of the agent's own program. A plan and what is written hold no secret of them. */
  agentEnv: z.record(z.string(), z.string()).default({}),
  skillMode: SkillMode.default("no-skill"),
  /** A folder of skills for every task, in the place of those that a task brings. */
  skillsDir: z.string().nullable().default(null),
  sandboxUser: z.string().default("agent"),
  agentIdleTimeoutSec: z.number().min(0).default(600),
  timeoutMultiplier: z.number().positive().default(1),
  lenientRewards: z.boolean().default(false),
  /** Host folders that local sandboxes see read-only besides the allowlist. */
  localInclude: z.array(z.string()).default([]),
  /** Names of host variables that task files may expand (attack 3). */
  passEnv: z.array(z.string()).default([]),
  /** Tasks that ask for the open internet run without it where the sandbox has none. */
  withoutInternet: z.boolean().default(false),
  /** FROM reference -> local image, for machines with no registry at hand. */
  baseImageMap: z.record(z.string(), z.string()).default({}),

  concurrency: z.int().min(1).default(4),
  buildConcurrency: z.int().min(1).nullable().default(null),
  trials: z.int().min(1).default(1),
  retryAttempts: z.int().min(0).default(2),
  breakerThreshold: z.int().min(0).default(5),

  /** Caps of the command as they were typed (spec 5.5, design 8): `parseCaps` checks them. */
  maxCostUsd: z.number().nullable().default(null),
  maxTokens: z.number().nullable().default(null),
  maxSandboxSeconds: z.number().nullable().default(null),
  maxRollouts: z.number().nullable().default(null),
  /** A limit of each trial's own: its work is graded when it is reached. */
  maxCostPerTrialUsd: z.number().nullable().default(null),
  /** Sent with every model request in place of a larger limit or of none (attack 13). */
  maxOutputTokens: z.int().min(1).nullable().default(null),
  /** The user's own price file. */
  prices: z.string().nullable().default(null),

  jobsDir: z.string().default("jobs"),
  jobName: z.string().nullable().default(null),
  fresh: z.boolean().default(false),
  saveOutputs: z.boolean().default(false),
  summaryOut: z.string().nullable().default(null),
  failUnder: z.number().min(0).max(1).nullable().default(null),
  failOn: z.array(FailOn).default([]),
});
export type RunSettings = z.infer<typeof RunSettings>;
export type RunSettingsInput = z.input<typeof RunSettings>;
