import * as z from "zod";

/**
 * The keys of task.toml and task.md as their authors write them (spec 6.4), each with its rule. The
 * objects are strict; `readTaskConfig` decides which unknown key is a warning and which an error.
 */
const Text = z.string();
const Texts = z.array(Text);
const Environment = z.record(z.string(), Text);
const Anything = z.record(z.string(), z.unknown());
const Seconds = z.number().positive();
const NetworkMode = z.enum(["public", "no-network", "allowlist", "denylist"]);
const User = z.union([Text, z.int().min(0)], "must be a name or a number").transform(String);
const EnvName = Text.regex(/^[A-Z_][A-Z0-9_]*$/u, "must be a variable name in capitals");
const AbsolutePath = Text.startsWith("/", "must be an absolute path");
const Prose = Text.trim().min(1, "must not be empty");

const HOST_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/u;
const Host = Text.trim()
  .toLowerCase()
  .transform((host) => host.replace(/\.$/u, ""))
  .refine((host) => host.split(".").every((label) => HOST_LABEL.test(label)), {
    error: "must be a bare hostname, with no scheme, port or path",
  });

const networkKeys = {
  network_mode: NetworkMode.optional(),
  allowed_hosts: z.array(Host).optional(),
};

interface NetworkKeys {
  network_mode?: z.infer<typeof NetworkMode> | undefined;
  allowed_hosts?: string[] | undefined;
}

function checkNetwork({ network_mode: mode, allowed_hosts: hosts = [] }: NetworkKeys) {
  if (mode === "allowlist" && hosts.length === 0)
    return 'network_mode "allowlist" needs allowed_hosts';
  if (mode !== "allowlist" && hosts.length > 0)
    return 'allowed_hosts needs network_mode "allowlist"';
  return null;
}

function rule<T>(check: (value: T) => string | null) {
  return (context: z.core.ParsePayload<T>) => {
    const message = check(context.value);
    if (message !== null) context.issues.push({ code: "custom", message, input: context.value });
  };
}

export const RawHealthcheck = z.strictObject({
  command: Text,
  interval_sec: Seconds.optional(),
  timeout_sec: Seconds.optional(),
  start_period_sec: z.number().min(0).optional(),
  start_interval_sec: Seconds.optional(),
  retries: z.int().min(1).optional(),
});

export const RawSetupCommand = z
  .strictObject({
    command: Prose,
    timeout_sec: Seconds.optional(),
    cwd: AbsolutePath.optional(),
    env: Environment.optional(),
    user: User.optional(),
    service: Prose.optional(),
    host_lock: Prose.optional(),
    capture_dir: AbsolutePath.optional(),
    capture_dir_b64_env: EnvName.optional(),
    capture_dir_b64_env_file_var: EnvName.optional(),
  })
  .check(
    rule((command) => {
      const { capture_dir: dir, capture_dir_b64_env: name } = command;
      if ((dir === undefined) !== (name === undefined)) {
        return "capture_dir and capture_dir_b64_env need each other";
      }
      const needsName = command.capture_dir_b64_env_file_var !== undefined && name === undefined;
      return needsName ? "capture_dir_b64_env_file_var needs capture_dir_b64_env" : null;
    }),
  );

export const RawMcpServer = z
  .strictObject({
    name: Text,
    transport: z
      .enum(["sse", "stdio", "streamable-http", "http"])
      .default("sse")
      .transform((transport) => (transport === "http" ? "streamable-http" : transport)),
    url: Text.optional(),
    command: Text.optional(),
    args: Texts.optional(),
    cwd: Text.optional(),
    env: Environment.optional(),
    headers: Environment.optional(),
    tools: z.array(Prose).min(1).optional(),
    include_tags: z.array(Prose).min(1).optional(),
    exclude_tags: z.array(Prose).min(1).optional(),
  })
  .check(
    rule(({ transport, url, command }) => {
      if (transport === "stdio")
        return command === undefined ? "transport stdio needs command" : null;
      return url === undefined ? `transport ${transport} needs url` : null;
    }),
  );

const Size = Text.trim().regex(/^\d+(?:\.\d+)?[GMK]$/iu, 'must be a size such as "2G" or "512M"');

export const RawSandbox = z
  .strictObject({
    ...networkKeys,
    blocked_hosts: z.array(Host).optional(),
    blocked_urls: Texts.optional(),
    allow_internet: z.boolean().optional(),
    build_timeout_sec: Seconds.optional(),
    docker_image: Prose.optional(),
    image: Prose.optional(),
    os: Text.toLowerCase()
      .pipe(z.enum(["linux", "windows"]))
      .optional(),
    cpus: z.number().positive().optional(),
    memory_mb: z.int().positive().optional(),
    memory: Size.optional(),
    storage_mb: z.int().positive().optional(),
    storage: Size.optional(),
    gpus: z.int().min(0).optional(),
    gpu_types: Texts.optional(),
    tpu: z
      .strictObject({
        type: Prose,
        topology: Text.trim().regex(/^[1-9]\d*(?:x[1-9]\d*)+$/u, 'must look like "2x4"'),
      })
      .optional(),
    env: Environment.optional(),
    workdir: Text.optional(),
    skills_dir: Text.optional(),
    healthcheck: RawHealthcheck.optional(),
    setup_commands: z.array(RawSetupCommand).optional(),
    mcp_servers: z.array(RawMcpServer).optional(),
    bugswarm_image_tag: Text.optional(),
  })
  .check(
    rule((sandbox) => {
      const { network_mode: mode, allow_internet: internet, blocked_hosts, blocked_urls } = sandbox;
      if (internet === false && mode !== undefined && mode !== "no-network") {
        return `allow_internet = false contradicts network_mode "${mode}"`;
      }
      const blocks = (blocked_hosts ?? []).length + (blocked_urls ?? []).length;
      if (mode === "denylist" && blocks === 0) {
        return 'network_mode "denylist" needs blocked_hosts or blocked_urls';
      }
      if (mode !== "denylist" && blocks > 0) {
        return 'blocked_hosts and blocked_urls need network_mode "denylist"';
      }
      return checkNetwork(sandbox);
    }),
  );

export const RawAgent = z
  .strictObject({
    ...networkKeys,
    timeout_sec: Seconds.optional(),
    prompt_prefix: Prose.optional(),
    user: User.optional(),
  })
  .check(rule(checkNetwork));

export const RawVerifier = z
  .strictObject({
    ...networkKeys,
    type: z.enum(["test-script", "llm-judge"]).optional(),
    timeout_sec: Seconds.optional(),
    env: Environment.optional(),
    reward_range: z
      .tuple([z.number(), z.number()])
      .refine(([low, high]) => low <= 0 && high >= 1, {
        error: "may only widen [0, 1]: the first at most 0, the second at least 1",
      })
      .optional(),
    user: User.optional(),
    service: Prose.optional(),
    sandbox_mode: z.enum(["shared", "separate"]).optional(),
    sandbox: RawSandbox.optional(),
    judge: z
      .strictObject({
        model: Text.optional(),
        rubric_path: Text.optional(),
        input_dir: Text.optional(),
        input_type: z.literal("deliverables").optional(),
        context: Text.optional(),
      })
      .optional(),
    memory: z.strictObject({ expected_skills: Texts.nullable().optional() }).optional(),
    hardening: z.strictObject({ cleanup_conftests: z.boolean().optional() }).optional(),
    pytest_plugins: Texts.optional(),
  })
  .check(
    rule((verifier) => {
      const shared = verifier.sandbox_mode === "shared" && verifier.sandbox !== undefined;
      return shared
        ? 'sandbox_mode "shared" contradicts a sandbox of its own'
        : checkNetwork(verifier);
    }),
  );

const RawArtifact = z.union([
  Text.transform((source) => ({ source, destination: undefined, exclude: undefined })),
  z.strictObject({ source: Text, destination: Text.optional(), exclude: Texts.optional() }),
]);

export const RawStep = z.strictObject({
  name: Text,
  agent: RawAgent.optional(),
  verifier: RawVerifier.optional(),
  min_reward: z.union([z.number(), z.record(z.string(), z.number())]).optional(),
  healthcheck: RawHealthcheck.optional(),
  artifacts: z.array(RawArtifact).optional(),
});

const PACKAGE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9][A-Za-z0-9._-]*$/u;

/** `1.3` without quotes is a number in both formats. */
const Version = z
  .union([Text, z.number()], 'must be a version such as "1.3"')
  .transform((version) => (typeof version === "number" ? version.toFixed(1) : version.trim()))
  .refine((version) => /^1(?:\.\d+)*$/u.test(version), { error: "must be a version with major 1" });

export const RawConfig = z.strictObject({
  schema_version: Version.optional(),
  task: z
    .strictObject({
      name: Text.refine((name) => PACKAGE_NAME.test(name) && !name.includes(".."), {
        error: 'must look like "org/name"',
      }),
      version: Text.optional(),
      description: Text.optional(),
      authors: z.array(z.strictObject({ name: Text, email: Text.optional() })).optional(),
      keywords: Texts.optional(),
    })
    .optional(),
  metadata: Anything.optional(),
  source: z.union([Text, Anything]).optional(),
  reward: Anything.optional(),
  artifacts: z.array(RawArtifact).optional(),
  agent: RawAgent.optional(),
  verifier: RawVerifier.optional(),
  sandbox: RawSandbox.optional(),
  oracle: z
    .strictObject({ env: Environment.optional(), timeout_sec: Seconds.optional() })
    .optional(),
  steps: z.array(RawStep).optional(),
  multi_step_reward_strategy: z.enum(["mean", "final"]).optional(),
});
export type RawConfig = z.infer<typeof RawConfig>;
