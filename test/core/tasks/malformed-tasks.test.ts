import fc from "fast-check";
import { expect, test } from "vitest";
import { parseTask } from "../../../core/tasks/parse-task.ts";
import { harborFiles, nativeFiles, problemsOf, toml, yaml } from "./task-builders.ts";

const inToml = (text: string) => problemsOf(harborFiles(text));
const inYaml = (text: string, body = "x") => problemsOf(nativeFiles(`---\n${text}\n---\n${body}`));

test.each([
  ['desc = "/session\\s*/"', "task.toml:1:18: unrecognised escape sequence, not valid TOML"],
  [
    "[agent]\ntimeout_sec = 1\ntimeout_sec = 2",
    "task.toml:3:1: trying to redefine an already defined",
  ],
  ["[agent]\n[agent]", "task.toml:2:2: trying to redefine an already defined"],
  ["[agent", "task.toml:1:2: incomplete key-value"],
  ["x", "task.toml:1:1: incomplete key-value"],
  ["__proto__.x = 1", "task.toml:1:1: document contains an unsafe property"],
  [`a = ${"[".repeat(2000)}`, "excessively nested"],
])("TOML %j is refused at its place", (text, problem) => {
  expect(inToml(text)[0]).toContain(problem);
});

test.each([
  ["agent: {timeout_sec: 1", "task.md:2:23: "],
  ["a: 1\na: 2", "task.md:3:1: the key stands there twice, not valid YAML"],
  ["agent:\n  timeout_sec: 1\n  timeout_sec: 2", "task.md:4:3: the key stands there twice"],
  ["\tagent: 1", "task.md:2:1: Tabs are not allowed as indentation"],
  ["- a", "task.md:2:1: the text is not a mapping of keys to values"],
  ["a: &a [*a]", "more than 64 levels of nesting"],
  [`a: ${"[".repeat(5000)}`, "not valid YAML"],
  ["? [a]\n: b", "task.md:2:3: With stringKeys, all keys must be strings"],
])("YAML %j is refused at its place", (text, problem) => {
  expect(inYaml(text)[0]).toContain(problem);
});

test("a YAML bomb is refused", () => {
  const rows = ["a: &a [x,x,x,x,x,x,x,x,x]"];
  for (const [at, name] of ["b", "c", "d", "e", "f"].entries()) {
    const before = "abcdef"[at] ?? "";
    rows.push(`${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(",")}]`);
  }
  expect(inYaml(rows.join("\n"))[0]).toContain("Excessive alias count");
});

test("twenty thousand wrong keys are read in seconds, and the first twenty told", () => {
  const keys = Array.from({ length: 20_000 }, (_, at) => `k${at}`);
  const started = performance.now();
  for (const problems of [
    inToml(`[environment]\n${keys.map((key) => `${key} = 1`).join("\n")}`),
    inYaml(`sandbox:\n${keys.map((key) => ` ${key}: 1`).join("\n")}`),
  ]) {
    expect(problems).toHaveLength(21);
    expect(problems.at(-1)).toMatch(/: 19980 more of the kind$/u);
  }
  expect(inYaml(`a: "${"x".repeat(300_000)}"`)[0]).toContain("characters, at most 262144 are read");
  expect(performance.now() - started).toBeLessThan(10_000);
});

test.each([
  ["no frontmatter", "task.md:1:1: the first line is not ---"],
  ["---\na: 1\n", "task.md:1:1: the frontmatter has no closing --- line"],
  ["---\n---\n## prompt\na\n## PROMPT\nb", 'task.md: the heading "## prompt" stands there twice'],
])("task.md %j is refused", (text, problem) => {
  expect(problemsOf(nativeFiles(text))[0]).toContain(problem);
});

test.each([
  ['schema_version = "9.0"', '1:1: schema_version is "9.0", it must be a version with major 1'],
  ['schema_version = "x"', "it must be a version with major 1"],
  ["version = true", "version is true, it must be a version"],
  ["task = 1", "1:1: task is 1, it must be a table of keys"],
  ["[task]", "1:2: task.name is missing, it must be a text in quotes"],
  ['task.name = "x"', 'task.name is "x", it must look like "org/name"'],
  ['task.name = "a/b..c"', 'it must look like "org/name"'],
  [
    '[task]\nname = "a/b"\nauthors = ["A"]',
    '3:12: task.authors[0] is "A", it must be a table of keys',
  ],
  ["artifacts = [1]", "artifacts[0] is 1, it has a wrong type"],
  ["[agent]\ntimeout_sec = 0", "2:1: agent.timeout_sec is 0, it must be more than 0"],
  ["[agent]\ntimeout_sec = -5", "agent.timeout_sec is -5, it must be more than 0"],
  ["[agent]\ntimeout_sec = inf", "agent.timeout_sec is Infinity, it must be a number"],
  ["[agent]\ntimeout_sec = nan", "it must be a number"],
  ['[agent]\ntimeout_sec = "60"', 'agent.timeout_sec is "60", it must be a number'],
  ['[agent]\nprompt_prefix = "  "', 'agent.prompt_prefix is "  ", it must not be empty'],
  ["[agent]\nuser = true", "agent.user is true, it must be a name or a number"],
  [
    '[agent]\nnetwork_mode = "off"',
    'agent.network_mode is "off", it can be "public" or "no-network"',
  ],
  ['[agent]\nnetwork_mode = "allowlist"', 'network_mode "allowlist" needs allowed_hosts'],
  ['[agent]\nallowed_hosts = ["a.b"]', 'allowed_hosts needs network_mode "allowlist"'],
  [
    '[verifier]\ntype = "magic"',
    'verifier.type is "magic", it can be "test-script" or "llm-judge"',
  ],
  [
    "[verifier]\nreward_range = [0.5, 1]",
    "verifier.reward_range is [0.5,1], it may only widen [0, 1]",
  ],
  ["[verifier]\nreward_range = [0]", "verifier.reward_range"],
  [
    "[verifier]\nreward_range = [0, inf]",
    "verifier.reward_range[1] is Infinity, it must be a number",
  ],
  ["[verifier]\nenv = { A = 1 }", "2:9: verifier.env.A is 1, it must be a text in quotes"],
  ["[verifier]\npytest_plugins = [1]", "2:19: verifier.pytest_plugins[0] is 1, it must be a text"],
  ["[verifier.hardening]\ncleanup_conftests = 1", "it must be true or false"],
  ["[verifier.judge]\ninput_type = 'x'", 'it can be "deliverables"'],
  [
    "[verifier]\nenvironment_mode = 'shared'\n[verifier.environment]\ncpus = 1",
    "contradicts a sandbox of its own",
  ],
  ["[verifier.environment]\ncpu = 1", "2:1: verifier.environment.cpu is 1, there is no such key"],
  ["[environment]\ncpus = 0", "environment.cpus is 0, it must be more than 0"],
  ["[environment]\nmemory_mb = 0.5", "environment.memory_mb is 0.5, it must be a whole number"],
  ['[environment]\nmemory = "2 GiB"', 'environment.memory is "2 GiB", it must be a size'],
  ['[environment]\nmemory = "1K"', 'environment.memory is "1K", it must be at least 1M'],
  [
    '[environment]\nmemory = "2G"\nmemory_mb = 1',
    'environment.memory is "2G", it contradicts memory_mb = 1',
  ],
  ['[environment]\nimage = "a"\ndocker_image = "b"', "contradicts docker_image"],
  ["[environment]\ngpus = -1", "environment.gpus is -1, it must be at least 0"],
  ['[environment]\nos = "macos"', 'environment.os is "macos", it can be "linux" or "windows"'],
  ["[environment]\nallow_internet = 'no'", "it must be true or false"],
  [
    '[environment]\nallow_internet = false\nnetwork_mode = "public"',
    'allow_internet = false contradicts network_mode "public"',
  ],
  ['[environment]\nnetwork_mode = "denylist"', "needs blocked_hosts or blocked_urls"],
  [
    '[environment]\nnetwork_mode="allowlist"\nallowed_hosts=["http://x"]',
    "it must be a bare hostname",
  ],
  ['[environment.tpu]\ntype = "v5"\ntopology = "2"', 'it must look like "2x4"'],
  ["[environment.healthcheck]\nretries = 1", "environment.healthcheck.command is missing"],
  [
    "[[environment.setup_commands]]\ncommand = ' '",
    '2:1: environment.setup_commands[0].command is " ", it must not be empty',
  ],
  [
    "[[environment.setup_commands]]\ncommand='a'\ncwd='rel'",
    '3:1: environment.setup_commands[0].cwd is "rel", it must be an absolute',
  ],
  ["[[environment.setup_commands]]\ncommand='a'\ncapture_dir='/x'", "need each other"],
  ["[[environment.mcp_servers]]\nname='a'", "transport sse needs url"],
  ["[[environment.mcp_servers]]\nname='a'\ntransport='stdio'", "transport stdio needs command"],
  [
    "[[environment.mcp_servers]]\nname='a'\nurl='u'\n[[environment.mcp_servers]]\nname=1",
    "5:1: environment.mcp_servers[1].name is 1",
  ],
  ["[environment]\n[sandbox]", "1:2: environment stands beside the section it is another name of"],
  ["[oracle]\n[solution]", "2:2: solution stands beside"],
  ["[solution]\ntimeout_sec = 'x'", '2:1: solution.timeout_sec is "x", it must be a number'],
  ["[[steps]]\nname = 1", "2:1: steps[0].name is 1, it must be a text in quotes"],
  ["multi_step_reward_strategy = 'best'", 'it can be "mean" or "final"'],
])("task.toml %j says what, value and rule", (text, problem) => {
  expect(inToml(text).join("\n")).toContain(problem);
});

test.each([
  [
    "environment: {cpus: 1}",
    "task.md:2:1: environment is the name in task.toml, in task.md it is sandbox",
  ],
  ["verifier:\n  environment: {}", "task.md:3:3: verifier.environment is the name in task.toml"],
  ["verifier: {environment_mode: shared}", "in task.md it is verifier.sandbox_mode"],
  ["oracle: {}\nsolution: {}", "task.md:3:1: solution is another name of oracle, keep one"],
  ["sandbox:\n  cpu: 1", "task.md:3:3: sandbox.cpu is 1, there is no such key"],
  ["agent:\n  timeout_sec: soon", 'task.md:3:3: agent.timeout_sec is "soon", it must be a number'],
  ["verifier: elsewhere/", 'task.md:2:1: verifier is "elsewhere/", it can be verifier/ or tests/'],
  ["oracle: [1]", "oracle is [1], it must be a table of keys"],
  ["profile: nope", 'task.md:2:1: profile is "nope", the profile "nope" is unknown'],
  ["name: 3", "task.md:2:1: name is 3, it must be a text"],
  ["benchflow: 3", "benchflow is 3, it must be a mapping"],
  ["scenes: 3", "task.md:2:1: scenes has a wrong type"],
])("task.md %j says what, value and rule", (text, problem) => {
  expect(inYaml(text).join("\n")).toContain(problem);
});

test.each([
  [
    "steps = [{ name = 'a', artifacts = ['x'], healthcheck = { command = 'c' } }]",
    ["steps", "steps[0].artifacts", "steps[0].healthcheck"],
  ],
  ["artifacts = ['/x']", ["artifacts"]],
  [
    "environment = { network_mode = 'allowlist', allowed_hosts = ['A.b.'] }",
    ["sandbox.network_mode"],
  ],
  [
    "environment = { network_mode = 'denylist', blocked_hosts = ['a.b'] }",
    ["sandbox.network_mode"],
  ],
  ["agent = { network_mode = 'allowlist', allowed_hosts = ['a.b'] }", ["agent.network_mode"]],
  ["verifier.type = 'llm-judge'", ["verifier.type"]],
  ["verifier.environment_mode = 'separate'", ["verifier.sandbox_mode"]],
  ["verifier.environment.cpus = 1", ["verifier.sandbox"]],
  ["verifier.service = 'db'", ["verifier.service"]],
  ["environment.os = 'windows'", ["sandbox.os"]],
  ["environment.tpu = { type = 'v5', topology = '2x4' }", ["sandbox.tpu"]],
  ["environment.gpus = 1", ["sandbox.gpus"]],
  ["environment.gpu_types = ['H100']", ["sandbox.gpus"]],
  ["environment.workdir = '/'", ["sandbox.workdir"]],
  ["environment.workdir = 'rel'", ["sandbox.workdir"]],
  ["environment.bugswarm_image_tag = 'x'", ["sandbox.bugswarm_image_tag"]],
  [
    "environment.setup_commands = [{ command = 'a', service = 'db', host_lock = 'l', capture_dir = '/x', capture_dir_b64_env = 'X' }]",
    [
      "sandbox.setup_commands[0].service",
      "sandbox.setup_commands[0].host_lock",
      "sandbox.setup_commands[0].capture_dir",
    ],
  ],
])("%j is read and refused before it runs", (text, paths) => {
  expect(toml(text).refusals.map((refusal) => refusal.path)).toEqual(paths);
});

test.each([
  ["user: {model: scripted}", ["user"]],
  ["benchflow: {nudges: {mode: simulated-user}}", ["user"]],
  ["scenes: [{name: a}]", ["scenes"]],
  [
    "benchflow: {agent_policy: {}, runtime_policy: {}, teams: {}}",
    ["benchflow.agent_policy", "benchflow.runtime_policy", "benchflow.teams"],
  ],
  ["profile: reward-kit", ["benchflow.verifier.implementation.type"]],
  ["profile: multi-agent", ["scenes"]],
])("task.md %j is read and refused before it runs", (text, paths) => {
  const task = yaml(text);
  expect(task.refusals.map((refusal) => refusal.path)).toEqual(paths);
  expect(task.simulatedUser).toBe(paths.includes("user"));
});

test("no text makes the readers throw", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.json(), (text, json) => {
      const documents = [text, `[agent]\n${text}`, `x = ${json}`, `environment = ${json}`];
      for (const each of documents) parseTask(harborFiles(each));
      for (const each of [text, `agent: ${json}`, `sandbox: ${json}`, json]) {
        parseTask(nativeFiles(`---\n${each}\n---\n${text}`, { "verifier/verifier.md": text }));
      }
    }),
  );
});

test("every problem of a file is told, in the order of its lines", () => {
  expect(inToml("[agent]\ntimeout_sec = 0\nuser = true\n[environment]\ncpus = 'x'")).toHaveLength(
    3,
  );
});
