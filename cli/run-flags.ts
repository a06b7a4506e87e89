import { FailOn } from "../core/model/settings.ts";
import { AGENT_FLAGS } from "./agent-flags.ts";
import {
  readChoice,
  readAmount,
  readFactor,
  readRate,
  readSeed,
  readText,
  readWhole,
} from "./flag-values.ts";
import { into, type RunFlag } from "./run-flag.ts";

type TextKey =
  | "prices"
  | "agentFile"
  | "providerFile"
  | "model"
  | "jobsDir"
  | "jobName"
  | "summaryOut"
  | "agent";
type ListKey = "include" | "exclude" | "localInclude" | "passEnv";

function text(key: TextKey): RunFlag["set"] {
  return into(key, readText);
}

function append(key: ListKey): RunFlag["set"] {
  return (draft, value, flag) => {
    draft[key] = [...(draft[key] ?? []), readText(value, flag)];
  };
}

type SwitchKey = "fresh" | "saveOutputs" | "strictTasks" | "lenientRewards" | "withoutInternet";

function on(key: SwitchKey): RunFlag["set"] {
  return (draft) => {
    draft[key] = true;
  };
}

const backends = readChoice(["local", "docker", "fargate", "e2b"]);

/** The flags that fill `RunSettings`, in the order in which help lists them (spec 5.1, 5.2). */
export const RUN_FLAGS: readonly RunFlag[] = [
  {
    flags: "-i, --include <name>",
    help: "only tasks whose names match a name or glob, 'econ-*' (repeatable)",
    set: append("include"),
  },
  {
    flags: "-x, --exclude <name>",
    help: "skip tasks whose names match (repeatable)",
    set: append("exclude"),
  },
  {
    flags: "-n, --n-tasks <n>",
    help: "the first N tasks by name",
    set: into("limit", readWhole(1)),
  },
  {
    flags: "--sample-seed <seed>",
    help: "with -n: a random sample, the same for the same seed",
    set: into("sampleSeed", readSeed),
  },
  {
    flags: "--shuffle <seed>",
    help: "start the tasks in a seeded random order",
    set: into("shuffleSeed", readSeed),
  },
  {
    flags: "-a, --agent <name>",
    help: "oracle runs the task's solution, nop does nothing (default: claude)",
    set: text("agent"),
  },
  {
    flags: "--agent-file <file>",
    help: "an agent of your own, as JSON or YAML (docs/agents.md)",
    hidden: true,
    set: text("agentFile"),
  },
  { flags: "-m, --model <model>", help: "provider/model, or a bare name", set: text("model") },
  ...AGENT_FLAGS,
  {
    flags: "--provider-file <file>",
    help: "model providers of your own, as JSON or YAML (docs/proxy.md)",
    hidden: true,
    set: text("providerFile"),
  },
  {
    flags: "--max-cost-usd <usd>",
    help: "a hard cap in dollars for the whole command, resumes included",
    set: into("maxCostUsd", readAmount),
  },
  {
    flags: "--max-cost-per-trial <usd>",
    help: "stop an agent that has spent so much; its work is graded",
    set: into("maxCostPerTrialUsd", readAmount),
  },
  {
    flags: "--max-tokens <n>",
    help: "a hard cap in model tokens for the whole command",
    set: into("maxTokens", readAmount),
  },
  {
    flags: "--max-sandbox-seconds <n>",
    help: "a hard cap in seconds of sandboxes for the whole command",
    hidden: true,
    set: into("maxSandboxSeconds", readAmount),
  },
  {
    flags: "--max-rollouts <n>",
    help: "a hard cap in attempts for the whole command",
    hidden: true,
    set: into("maxRollouts", readAmount),
  },
  {
    flags: "--max-output-tokens <n>",
    help: "the longest answer that a model may give to one request",
    set: into("maxOutputTokens", readWhole(1)),
  },
  {
    flags: "--prices <file>",
    help: "own model prices, in dollars per million tokens (docs/proxy.md)",
    set: text("prices"),
  },
  {
    flags: "--env, --sandbox <kind>",
    help: "where trials run: local, docker (default), fargate (controls only)",
    set: into("environment", backends),
  },
  {
    flags: "-j, --concurrency <n>",
    help: "trials at a time (default: 4)",
    set: into("concurrency", readWhole(1)),
  },
  {
    flags: "--trials <n>",
    help: "run the whole task set N times (default: 1)",
    set: into("trials", readWhole(1)),
  },
  {
    flags: "-o, --jobs-dir <dir>",
    help: "where results go (default: jobs)",
    set: text("jobsDir"),
  },
  {
    flags: "--job-name <name>",
    help: "name of the job folder; resumes it when it exists",
    set: text("jobName"),
  },
  { flags: "--fresh", help: "start a new job instead of resuming", set: on("fresh") },
  {
    flags: "--save-outputs",
    help: "keep each trial's final workspace",
    set: on("saveOutputs"),
  },
  {
    flags: "--freeze-workspace",
    help: "the same as --save-outputs",
    hidden: true,
    set: on("saveOutputs"),
  },
  {
    flags: "--retry-attempts <n>",
    help: "more attempts for an unscored trial (default: 2)",
    set: into("retryAttempts", readWhole(0)),
  },
  {
    flags: "--timeout-multiplier <x>",
    help: "multiply the tasks' agent and verifier time limits",
    set: into("timeoutMultiplier", readFactor),
  },
  {
    flags: "--build-concurrency <n>",
    help: "images built at a time (default: as -j)",
    set: into("buildConcurrency", readWhole(1)),
  },
  {
    flags: "--fail-under <rate>",
    help: "exit 1 when fewer than this share of the trials passed",
    set: into("failUnder", readRate),
  },
  {
    flags: "--fail-on <what>",
    help: "exit 1 on any timeout, error or verifier-error (repeatable)",
    set: (draft, value, flag) => {
      draft.failOn = [...(draft.failOn ?? []), readChoice(FailOn.options)(value, flag)];
    },
  },
  {
    flags: "--summary-out <file>",
    help: "write the run summary as JSON",
    set: text("summaryOut"),
  },
  {
    flags: "--strict-tasks",
    help: "stop before anything is created when a task cannot be read",
    set: on("strictTasks"),
  },
  {
    flags: "--lenient-rewards",
    help: "drop bad keys of reward.json instead of leaving the trial unscored",
    hidden: true,
    set: on("lenientRewards"),
  },
  {
    flags: "--local-include <path>",
    help: "a host path that local sandboxes see read-only (repeatable)",
    hidden: true,
    set: append("localInclude"),
  },
  {
    flags: "--without-internet",
    help: "run tasks that ask for the open internet also where the sandbox has none",
    hidden: true,
    set: on("withoutInternet"),
  },
  {
    flags: "--pass-env <name>",
    help: "a host variable that task files may name (repeatable)",
    hidden: true,
    set: append("passEnv"),
  },
];
