import * as z from "zod";
import { SandboxKind } from "./settings.ts";
import { Loop, ResultSource, Scene, SkillFields, UsageTracking } from "./trial-result.ts";

/**
 * config.json: how a trial was run (spec 1.5), written once its setup succeeded. Keys up to
 * `task_digest` are the contract's. It holds no absolute path of the machine and no environment
 * value. Times in seconds.
 */
export const TrialConfig = z.object({
  task_path: z.string(),
  agent: z.string(),
  model: z.string().nullable(),
  reasoning_effort: z.string().nullable(),
  environment: SandboxKind,
  acp_transport: z.enum(["docker-stdio", "ssh", "pty", "provider-default"]),
  environment_manifest: z.null(),
  ...SkillFields.shape,
  sandbox_user: z.string().nullable(),
  sandbox_locked_paths: z.array(z.string()),
  sandbox_setup_timeout: z.number(),
  skip_install: z.boolean(),
  agent_install_timeout: z.number().nullable(),
  context_root: z.string().nullable(),
  base_image_override: z.string().nullable(),
  verifier_sandbox_mode: z.enum(["shared", "separate"]),
  verifier_include: z.array(z.string()),
  timeout_sec: z.number(),
  concurrency: z.int().min(1),
  agent_idle_timeout_sec: z.number().nullable(),
  started_at: z.string(),
  agent_env: z.record(z.string(), z.string()),
  scenes: z.array(Scene),
  loop: Loop,
  usage_tracking: UsageTracking.pick({ requested: true }),
  source: ResultSource.optional(),
  task_digest: z.string(),
  started_at_utc: z.string(),
  attempt: z.int().min(1),
  settings_digest: z.string(),
  verifier_timeout_sec: z.number(),
  verify_only_from: z.string().nullable(),
  /** Name and version of what ran it; absent in files from before it was recorded. */
  tool: z.string().optional(),
});
export type TrialConfig = z.infer<typeof TrialConfig>;
