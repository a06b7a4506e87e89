import * as z from "zod";

/**
 * Where a task's containers may connect to while a phase runs (spec 6.4; denylist: spec-0.7.12 section
 * 8). No backend holds the two lists yet, so their tasks carry a refusal.
 */
export const NetworkMode = z.enum(["public", "no-network", "allowlist", "denylist"]);
export type NetworkMode = z.infer<typeof NetworkMode>;

const Environment = z.record(z.string(), z.string());
const Anything = z.record(z.string(), z.unknown());
const Seconds = z.number().positive();

export const Healthcheck = z.object({
  command: z.string(),
  intervalSec: Seconds.default(5),
  timeoutSec: Seconds.default(30),
  startPeriodSec: z.number().min(0).default(0),
  startIntervalSec: Seconds.default(5),
  retries: z.int().min(1).default(3),
});
export type Healthcheck = z.infer<typeof Healthcheck>;

export const SetupCommand = z.object({
  command: z.string(),
  timeoutSec: Seconds.default(600),
  cwd: z.string().nullable().default(null),
  env: Environment.default({}),
  user: z.string().nullable().default(null),
  service: z.string().default("main"),
  /** Host-side wishes: parsed, and refused, because no command of a task runs on the host. */
  hostLock: z.string().nullable().default(null),
  captureDir: z.string().nullable().default(null),
  captureDirB64Env: z.string().nullable().default(null),
  captureDirB64EnvFileVar: z.string().nullable().default(null),
});
export type SetupCommand = z.infer<typeof SetupCommand>;

export const McpServer = z.object({
  name: z.string(),
  transport: z.enum(["sse", "stdio", "streamable-http"]),
  url: z.string().nullable().default(null),
  command: z.string().nullable().default(null),
  args: z.array(z.string()).default([]),
  cwd: z.string().nullable().default(null),
  env: Environment.default({}),
  headers: Environment.default({}),
  /** Tools and tags to offer or hide; null means all. */
  tools: z.array(z.string()).nullable().default(null),
  includeTags: z.array(z.string()).nullable().default(null),
  excludeTags: z.array(z.string()).nullable().default(null),
});
export type McpServer = z.infer<typeof McpServer>;

/** A path of the sandbox to keep after the run. */
export const Artifact = z.object({
  source: z.string(),
  destination: z.string().nullable().default(null),
  exclude: z.array(z.string()).default([]),
});
export type Artifact = z.infer<typeof Artifact>;

/** How several metrics of a verifier's document become one reward (spec 6.7). */
export const AggregatePolicy = z.object({
  method: z.string(),
  weights: z.record(z.string(), z.number()).nullable().default(null),
  threshold: z.number().default(0.7),
});
export type AggregatePolicy = z.infer<typeof AggregatePolicy>;

/**
 * A task's configuration after both layouts and their deprecated forms were read into one model
 * (spec 6.4). Times in seconds, sizes in MiB. `null` means: the task says nothing.
 */
export const TaskConfig = z.object({
  schemaVersion: z.string().default("1.3"),
  about: z
    .object({
      name: z.string().nullable().default(null),
      version: z.string().default(""),
      description: z.string().default(""),
      authors: z
        .array(z.object({ name: z.string(), email: z.string().nullable().default(null) }))
        .default([]),
      keywords: z.array(z.string()).default([]),
    })
    .prefault({}),
  agent: z
    .object({
      timeoutSec: Seconds.nullable().default(null),
      promptPrefix: z.string().nullable().default(null),
      user: z.string().nullable().default(null),
      networkMode: NetworkMode.nullable().default(null),
      allowedHosts: z.array(z.string()).nullable().default(null),
    })
    .prefault({}),
  verifier: z
    .object({
      type: z.enum(["test-script", "llm-judge"]).default("test-script"),
      timeoutSec: Seconds.default(600),
      env: Environment.default({}),
      rewardRange: z.tuple([z.number(), z.number()]).default([0, 1]),
      user: z.string().nullable().default(null),
      networkMode: NetworkMode.nullable().default(null),
      allowedHosts: z.array(z.string()).nullable().default(null),
      service: z.string().default("main"),
      sandboxMode: z.enum(["shared", "separate"]).nullable().default(null),
      cleanupConftests: z.boolean().default(true),
      pytestPlugins: z.array(z.string()).default([]),
      /** From verifier.md; used for reward files that carry no policy of their own. */
      aggregatePolicy: AggregatePolicy.nullable().default(null),
      judge: z
        .object({
          model: z.string().default("claude-sonnet-4-6"),
          rubricPath: z.string().default("tests/rubric.toml"),
          inputDir: z.string().default("/app"),
          inputType: z.literal("deliverables").default("deliverables"),
          context: z.string().default(""),
        })
        .prefault({}),
      /** The hidden answer key of memory tasks; null when there is none. */
      expectedSkills: z.array(z.string()).nullable().default(null),
      /** The sandbox of a separate verifier, as written; such tasks carry a refusal. */
      sandbox: Anything.nullable().default(null),
    })
    .prefault({}),
  sandbox: z
    .object({
      /** Null: the task says nothing, which the contract reads as public where there is a choice. */
      networkMode: NetworkMode.nullable().default(null),
      allowedHosts: z.array(z.string()).default([]),
      buildTimeoutSec: Seconds.default(600),
      dockerImage: z.string().nullable().default(null),
      os: z.string().default("linux"),
      cpus: z.number().positive().default(1),
      memoryMb: z.int().positive().default(2048),
      storageMb: z.int().positive().default(10_240),
      gpus: z.int().min(0).default(0),
      gpuTypes: z.array(z.string()).default([]),
      tpu: z.object({ type: z.string(), topology: z.string() }).nullable().default(null),
      blockedHosts: z.array(z.string()).default([]),
      blockedUrls: z.array(z.string()).default([]),
      bugswarmImageTag: z.string().nullable().default(null),
      env: Environment.default({}),
      workdir: z.string().nullable().default(null),
      skillsDir: z.string().nullable().default(null),
      healthcheck: Healthcheck.nullable().default(null),
      setupCommands: z.array(SetupCommand).default([]),
      mcpServers: z.array(McpServer).default([]),
    })
    .prefault({}),
  oracle: z
    .object({ env: Environment.default({}), timeoutSec: Seconds.nullable().default(null) })
    .prefault({}),
  metadata: Anything.default({}),
  source: z.union([z.string(), Anything]).nullable().default(null),
  reward: Anything.default({}),
  artifacts: z.array(Artifact).default([]),
  /** Harbor's multi-step tasks, as written: parsed, and refused. */
  steps: z.array(Anything).default([]),
  multiStepRewardStrategy: z.enum(["mean", "final"]).nullable().default(null),
});
export type TaskConfig = z.infer<typeof TaskConfig>;

/** Something the task asks for that this edition, or one backend, cannot do: refused in the plan. */
export const Refusal = z.object({
  path: z.string(),
  reason: z.string(),
  /** True for what only an agent that works by itself meets: the controls run the task all the same. */
  agentsOnly: z.boolean().optional(),
});
export type Refusal = z.infer<typeof Refusal>;

/** Where a task's files came from, when the folder is in a Git checkout. */
export const TaskSource = z.object({
  type: z.literal("git"),
  repo: z.string().nullable(),
  resolvedSha: z.string(),
  path: z.string(),
  dirty: z.boolean(),
});
export type TaskSource = z.infer<typeof TaskSource>;

/** How the sandbox's file system comes about. */
export const ImageSource = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("dockerfile"),
    /** sha256 over the build context's files, paths and modes: `sha256:<hex>`. */
    contextDigest: z.string(),
  }),
  z.object({ kind: z.literal("prebuilt"), reference: z.string() }),
]);
export type ImageSource = z.infer<typeof ImageSource>;

/** What task.md says beyond its configuration: who talks, in which order, to which user. */
export const TaskDocument = z.object({
  agents: Anything.default({}),
  scenes: z.array(Anything).default([]),
  user: Anything.nullable().default(null),
  benchflow: Anything.default({}),
  rolePrompts: z.record(z.string(), z.string()).default({}),
  scenePrompts: z.record(z.string(), z.string()).default({}),
  userPersona: z.string().nullable().default(null),
});
export type TaskDocument = z.infer<typeof TaskDocument>;

/** A task as the plan and the runner see it. Plain data: it crosses to other machines. */
export const Task = z.object({
  /** The folder's name: what selects, names and reports the task. */
  name: z.string(),
  /** Where the adapters find the files: an absolute folder on this machine. */
  dir: z.string(),
  layout: z.enum(["harbor", "native"]),
  /** What the agent is asked, before any prefix of the task or the run. */
  prompt: z.string(),
  config: TaskConfig,
  /** spec 7: `sha256:<hex>` over every regular file of the folder. */
  digest: z.string(),
  image: ImageSource,
  /** Folder names inside the task, as its layout has them. */
  environmentDir: z.string(),
  verifierDir: z.enum(["tests", "verifier"]),
  /** Where the task's solve.sh stands; null without one. */
  oracleDir: z.enum(["solution", "oracle"]).nullable(),
  /** The shell line that runs the verifier inside its folder; `./test.sh` for the test-script type. */
  verifierCommand: z.string(),
  /** True when the environment is a docker-compose file. */
  compose: z.boolean(),
  /** True when the task brings a scripted user that answers the agent between prompts. */
  simulatedUser: z.boolean(),
  /** Names of the skills in its `environment/skills`; absent for none. */
  skills: z.array(z.string()).optional(),
  refusals: z.array(Refusal),
  warnings: z.array(z.string()),
  source: TaskSource.nullable(),
  document: TaskDocument.prefault({}),
});
export type Task = z.infer<typeof Task>;

/** A folder that looked like a task and could not be read. It is listed, and never disappears. */
export const SkippedTask = z.object({
  name: z.string(),
  /** `file:line:column: what, value, rule` where a position is known. */
  reason: z.string(),
});
export type SkippedTask = z.infer<typeof SkippedTask>;
