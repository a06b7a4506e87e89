import type * as z from "zod";
import { TaskConfig } from "../model/task.ts";
import type { NetworkMode } from "../model/task.ts";
import type {
  RawConfig,
  RawHealthcheck,
  RawMcpServer,
  RawSandbox,
  RawSetupCommand,
} from "./raw-config.ts";

/**
 * Turns checked keys into the model that the plan and the runner know: deprecated forms replaced,
 * defaults of spec 6.4 filled in.
 */
export function buildConfig(raw: RawConfig): TaskConfig {
  return TaskConfig.parse(
    withoutUndefined({
      schemaVersion: raw.schema_version,
      about: raw.task === undefined ? undefined : withoutUndefined(raw.task),
      agent: buildAgent(raw),
      verifier: buildVerifier(raw),
      sandbox: raw.sandbox === undefined ? undefined : buildSandbox(raw.sandbox),
      oracle: withoutUndefined({ env: raw.oracle?.env, timeoutSec: raw.oracle?.timeout_sec }),
      metadata: raw.metadata,
      source: raw.source,
      reward: raw.reward,
      artifacts: raw.artifacts?.map((artifact) => withoutUndefined(artifact)),
      steps: raw.steps,
      multiStepRewardStrategy: raw.multi_step_reward_strategy,
    }),
  );
}

function buildAgent({ agent = {} }: RawConfig) {
  return withoutUndefined({
    timeoutSec: agent.timeout_sec,
    promptPrefix: agent.prompt_prefix,
    user: agent.user,
    networkMode: agent.network_mode,
    allowedHosts: agent.allowed_hosts,
  });
}

function buildVerifier({ verifier = {} }: RawConfig) {
  const { judge = {} } = verifier;
  return withoutUndefined({
    type: verifier.type,
    timeoutSec: verifier.timeout_sec,
    env: verifier.env,
    rewardRange: verifier.reward_range,
    user: verifier.user,
    networkMode: verifier.network_mode,
    allowedHosts: verifier.allowed_hosts,
    service: verifier.service,
    sandboxMode: verifier.sandbox_mode,
    sandbox: verifier.sandbox,
    cleanupConftests: verifier.hardening?.cleanup_conftests,
    pytestPlugins: verifier.pytest_plugins,
    judge: withoutUndefined({
      model: judge.model,
      rubricPath: judge.rubric_path,
      inputDir: judge.input_dir,
      inputType: judge.input_type,
      context: judge.context,
    }),
    expectedSkills: verifier.memory?.expected_skills,
  });
}

function buildSandbox(raw: z.infer<typeof RawSandbox>) {
  return withoutUndefined({
    networkMode: raw.network_mode ?? modeOf(raw.allow_internet),
    allowedHosts: raw.allowed_hosts,
    blockedHosts: raw.blocked_hosts,
    blockedUrls: raw.blocked_urls,
    buildTimeoutSec: raw.build_timeout_sec,
    dockerImage: raw.docker_image ?? raw.image,
    os: raw.os,
    cpus: raw.cpus,
    memoryMb: raw.memory === undefined ? raw.memory_mb : sizeMb(raw.memory),
    storageMb: raw.storage === undefined ? raw.storage_mb : sizeMb(raw.storage),
    gpus: raw.gpus,
    gpuTypes: raw.gpu_types,
    tpu: raw.tpu,
    env: raw.env,
    workdir: raw.workdir,
    skillsDir: raw.skills_dir,
    healthcheck: raw.healthcheck === undefined ? undefined : buildHealthcheck(raw.healthcheck),
    setupCommands: raw.setup_commands?.map(buildSetupCommand),
    mcpServers: raw.mcp_servers?.map(buildMcpServer),
    bugswarmImageTag: raw.bugswarm_image_tag,
  });
}

/** The older form; where both are given they were checked to agree. */
function modeOf(allowInternet: boolean | undefined): NetworkMode | undefined {
  if (allowInternet === undefined) return undefined;
  return allowInternet ? "public" : "no-network";
}

function buildHealthcheck(raw: z.infer<typeof RawHealthcheck>) {
  return withoutUndefined({
    command: raw.command,
    intervalSec: raw.interval_sec,
    timeoutSec: raw.timeout_sec,
    startPeriodSec: raw.start_period_sec,
    startIntervalSec: raw.start_interval_sec,
    retries: raw.retries,
  });
}

function buildSetupCommand(raw: z.infer<typeof RawSetupCommand>) {
  return withoutUndefined({
    command: raw.command,
    timeoutSec: raw.timeout_sec,
    cwd: raw.cwd,
    env: raw.env,
    user: raw.user,
    service: raw.service,
    hostLock: raw.host_lock,
    captureDir: raw.capture_dir,
    captureDirB64Env: raw.capture_dir_b64_env,
    captureDirB64EnvFileVar: raw.capture_dir_b64_env_file_var,
  });
}

function buildMcpServer({ include_tags, exclude_tags, ...rest }: z.infer<typeof RawMcpServer>) {
  return withoutUndefined({ ...rest, includeTags: include_tags, excludeTags: exclude_tags });
}

/** `2G` is 2048 MiB, `512M` 512, `1024K` 1 (spec 6.4). */
export function sizeMb(size: string): number {
  const amount = Number.parseFloat(size);
  const unit = size.at(-1)?.toUpperCase();
  const mebibytes = unit === "G" ? amount * 1024 : unit === "K" ? amount / 1024 : amount;
  return Math.trunc(mebibytes);
}

/** Absent keys get their defaults from the model; an explicit undefined would not. */
function withoutUndefined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
