import { expect, test } from "vitest";
import { toml } from "./task-builders.ts";

test("every key of a task.toml is read into the model", () => {
  const { config } = toml(`
schema_version = "1.3"
source = "somewhere"
multi_step_reward_strategy = "mean"
[task]
name = "org/some.task-1"
version = "2"
description = "d"
authors = [{ name = "A", email = "a@b.c" }, { name = "B" }]
keywords = ["k"]
[metadata]
anything = { goes = [1, "two", 2024-01-02] }
[reward]
x = 1
[agent]
timeout_sec = 120.5
prompt_prefix = " be brief "
user = 1000
network_mode = "no-network"
[verifier]
type = "test-script"
timeout_sec = 60
env = { A = "1" }
reward_range = [-1, 2.5]
user = "root"
network_mode = "public"
service = "main"
environment_mode = "shared"
pytest_plugins = ["p"]
judge = { model = "m", rubric_path = "r", input_dir = "/i", input_type = "deliverables", context = "c" }
memory = { expected_skills = ["s"] }
hardening = { cleanup_conftests = false }
[environment]
network_mode = "public"
build_timeout_sec = 30
docker_image = "debian:12"
os = "Linux"
cpus = 2
memory_mb = 512
storage_mb = 100
env = { B = "x" }
workdir = "/w"
skills_dir = "/skills"
[environment.healthcheck]
command = "true"
interval_sec = 1
timeout_sec = 2
start_period_sec = 0
start_interval_sec = 3
retries = 4
[[environment.setup_commands]]
command = "echo"
timeout_sec = 5
cwd = "/w"
env = { C = "y" }
user = 0
service = "main"
[[environment.mcp_servers]]
name = "m"
transport = "http"
url = "http://x"
env = { D = "z" }
headers = { H = "v" }
tools = ["t"]
include_tags = ["i"]
exclude_tags = ["e"]
[[environment.mcp_servers]]
name = "n"
transport = "stdio"
command = "cmd"
args = ["a"]
cwd = "/c"
[solution]
timeout_sec = 9
env = { E = "1" }
TOKEN = "t"
`);
  expect(config).toEqual({
    schemaVersion: "1.3",
    about: {
      name: "org/some.task-1",
      version: "2",
      description: "d",
      authors: [
        { name: "A", email: "a@b.c" },
        { name: "B", email: null },
      ],
      keywords: ["k"],
    },
    agent: {
      timeoutSec: 120.5,
      promptPrefix: "be brief",
      user: "1000",
      networkMode: "no-network",
      allowedHosts: null,
    },
    verifier: {
      type: "test-script",
      timeoutSec: 60,
      env: { A: "1" },
      rewardRange: [-1, 2.5],
      user: "root",
      networkMode: "public",
      allowedHosts: null,
      service: "main",
      sandboxMode: "shared",
      cleanupConftests: false,
      pytestPlugins: ["p"],
      aggregatePolicy: null,
      judge: {
        model: "m",
        rubricPath: "r",
        inputDir: "/i",
        inputType: "deliverables",
        context: "c",
      },
      expectedSkills: ["s"],
      sandbox: null,
    },
    sandbox: {
      networkMode: "public",
      allowedHosts: [],
      blockedHosts: [],
      blockedUrls: [],
      buildTimeoutSec: 30,
      dockerImage: "debian:12",
      os: "linux",
      cpus: 2,
      memoryMb: 512,
      storageMb: 100,
      gpus: 0,
      gpuTypes: [],
      tpu: null,
      bugswarmImageTag: null,
      env: { B: "x" },
      workdir: "/w",
      skillsDir: "/skills",
      healthcheck: {
        command: "true",
        intervalSec: 1,
        timeoutSec: 2,
        startPeriodSec: 0,
        startIntervalSec: 3,
        retries: 4,
      },
      setupCommands: [
        {
          command: "echo",
          timeoutSec: 5,
          cwd: "/w",
          env: { C: "y" },
          user: "0",
          service: "main",
          hostLock: null,
          captureDir: null,
          captureDirB64Env: null,
          captureDirB64EnvFileVar: null,
        },
      ],
      mcpServers: [
        {
          name: "m",
          transport: "streamable-http",
          url: "http://x",
          command: null,
          args: [],
          cwd: null,
          env: { D: "z" },
          headers: { H: "v" },
          tools: ["t"],
          includeTags: ["i"],
          excludeTags: ["e"],
        },
        {
          name: "n",
          transport: "stdio",
          url: null,
          command: "cmd",
          args: ["a"],
          cwd: "/c",
          env: {},
          headers: {},
          tools: null,
          includeTags: null,
          excludeTags: null,
        },
      ],
    },
    oracle: { env: { TOKEN: "t", E: "1" }, timeoutSec: 9 },
    metadata: { anything: { goes: [1, "two", "2024-01-02"] } },
    source: "somewhere",
    reward: { x: 1 },
    artifacts: [],
    steps: [],
    multiStepRewardStrategy: "mean",
  });
});
