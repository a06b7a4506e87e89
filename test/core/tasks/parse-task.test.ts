import { expect, test } from "vitest";
import {
  anEntry,
  harborFiles,
  nativeFiles,
  parsed,
  problemsOf,
  someFiles,
  toml,
  yaml,
} from "./task-builders.ts";

test("an empty task.toml gets the defaults of spec 6.4", () => {
  const task = toml("");
  expect(task).toMatchObject({
    name: "hello",
    layout: "harbor",
    prompt: "do it\n",
    verifierDir: "tests",
    oracleDir: "solution",
    verifierCommand: "./test.sh",
    compose: false,
    simulatedUser: false,
    refusals: [],
    warnings: [],
  });
  expect(task.config).toMatchObject({
    agent: { timeoutSec: null },
    verifier: { type: "test-script", timeoutSec: 600, rewardRange: [0, 1], cleanupConftests: true },
    sandbox: {
      networkMode: null,
      buildTimeoutSec: 600,
      os: "linux",
      cpus: 1,
      memoryMb: 2048,
      storageMb: 10_240,
      gpus: 0,
      workdir: null,
    },
  });
});

test("deprecated forms mean what they meant", () => {
  expect(toml('version = "1.0"').config.schemaVersion).toBe("1.0");
  expect(toml("[environment]\nallow_internet = false").config.sandbox.networkMode).toBe(
    "no-network",
  );
  expect(toml("[environment]\nallow_internet = true").config.sandbox.networkMode).toBe("public");
  expect(toml('[environment]\nmemory = "2G"\nstorage = "512M"').config.sandbox).toMatchObject({
    memoryMb: 2048,
    storageMb: 512,
  });
  expect(toml('[environment]\nmemory = "2048k"').config.sandbox.memoryMb).toBe(2);
  expect(toml('[environment]\nimage = "x:1"').config.sandbox.dockerImage).toBe("x:1");
  expect(toml('[solution]\nFOO = "x"').config.oracle.env).toEqual({ FOO: "x" });
});

test("task.md frontmatter and shorthands are read into the same model", () => {
  const task = yaml("name: hello\nimage: python:3.12-slim\nverifier: verifier/\noracle: oracle");
  expect(task.layout).toBe("native");
  expect(task.config.about.name).toBe("benchflow/hello");
  expect(task.config.sandbox.dockerImage).toBe("python:3.12-slim");
  expect(yaml("name: org/x").config.about.name).toBe("org/x");
  expect(yaml("schema_version: 1.3").config.schemaVersion).toBe("1.3");
  expect(yaml("agent:\n  timeout_sec:\nsandbox: {allow_internet: no}").config).toMatchObject({
    agent: { timeoutSec: null },
    sandbox: { networkMode: "no-network" },
  });
});

test("a profile lies under the task's own keys", () => {
  const { config } = yaml("profile: code-change\nagent: {timeout_sec: 60}\nsandbox: {cpus: 8}");
  expect(config.agent).toMatchObject({ timeoutSec: 60, networkMode: "no-network" });
  expect(config.sandbox).toMatchObject({ cpus: 8, memoryMb: 8192, workdir: "/repo" });
});

test.each([
  ["plain text\nover lines\n", "plain text\nover lines"],
  ["before\n\n## prompt\n\ninside\n\n## role:x\nrole\n", "inside"],
  ["before\n\n## ROLE:x\nrole\n", "before"],
  ["## Prompt\nwith \\## prompt\n\\## role:a\n", "with \\## prompt\n## role:a"],
  ["a ## prompt b\n### prompt\n", "a ## prompt b\n### prompt"],
])("the prompt of %j is found", (body, prompt) => {
  expect(yaml("{}", body).prompt).toBe(prompt);
  expect(yaml("{}", body.replaceAll("\n", "\r\n")).prompt).toBe(prompt);
});

test("files of prompts/ beat headings of the same name", () => {
  const body = "p\n## role:a\nold\n## role:b\nb\n## scene:s\nscene\n## user-persona\nold\n";
  const task = parsed(
    nativeFiles(`---\n---\n${body}`, {
      "prompts/role.a.md": "new\n",
      "prompts/user-persona.md": "newer\n",
      "prompts/notes.md": "no prompt",
    }),
  );
  expect(task.document).toMatchObject({
    rolePrompts: { a: "new", b: "b" },
    scenePrompts: { s: "scene" },
    userPersona: "newer",
  });
});

test("verifier/ beats tests/ and oracle/ beats solution/, even when the winner is empty", () => {
  const both = harborFiles("", { "verifier/": "" });
  expect(problemsOf(both)).toEqual([
    "tests/: holds other files than verifier/, which stands for the same",
    "verifier/test.sh: is not there, a verifier needs it",
  ]);
  expect(parsed(harborFiles("", { "oracle/solve.sh": "#!/bin/bash\ntrue\n" })).oracleDir).toBe(
    "oracle",
  );
});

test("folders that are links are told as links", () => {
  const files = someFiles({ "task.md": "---\n---\ndo it" });
  const entries = new Map(files.entries);
  for (const name of ["environment", "oracle", "verifier"])
    entries.set(name, anEntry({ kind: "symlink", target: `../other/${name}` }));
  expect(problemsOf({ ...files, entries })).toEqual([
    "environment: is a link, and links are not followed, a task needs it, unless its docker_image names an image",
    "verifier: is a link, and links are not followed, a verifier needs it",
  ]);
});

test("a solution is a solve.sh, not a folder of that name", () => {
  const { oracleDir } = parsed(nativeFiles("---\n---\ndo it", { "oracle/solve.sh": "" }));
  expect(oracleDir).toBe("oracle");
  const { entries, texts, name } = nativeFiles("---\n---\ndo it", { "oracle/README.md": "later" });
  const without = new Map([...entries].filter(([path]) => path !== "oracle/solve.sh"));
  expect(parsed({ name, texts, entries: without }).oracleDir).toBeNull();
  const linked = new Map([...entries, ["oracle/solve.sh", anEntry({ kind: "symlink" })]]);
  expect(parsed({ name, texts, entries: linked }).oracleDir).toBe("oracle");
});

test("both layouts in one folder must say the same", () => {
  const harbor = {
    "task.toml": '[agent]\ntimeout_sec = 300\n[environment]\nmemory = "2G"\n',
    "instruction.md": "do it\n",
  };
  const same =
    "---\nagent: {timeout_sec: 300.0}\nsandbox: {memory_mb: 2048}\n---\n## prompt\ndo it";
  expect(parsed(nativeFiles(same, harbor)).layout).toBe("native");
  for (const [ofNative, ofHarbor] of [
    ["", "allow_internet = true\n"],
    [", network_mode: public", ""],
  ]) {
    const files = { ...harbor, "task.toml": `${harbor["task.toml"]}${ofHarbor ?? ""}` };
    const text = same.replace("2048", `2048${ofNative ?? ""}`);
    expect(parsed(nativeFiles(text, files)).config.sandbox.networkMode).toBe("public");
  }
  const closed = same.replace("2048", "2048, network_mode: no-network");
  expect(problemsOf(nativeFiles(closed, harbor))).toEqual([
    "task.toml: sandbox differs from task.md, both layouts must say the same",
  ]);
  const other = same.replace("300.0", "301").replace("do it", "do that");
  expect(problemsOf(nativeFiles(other, harbor))).toEqual([
    "task.toml: the prompt differs from task.md, both layouts must say the same",
    "task.toml: agent differs from task.md, both layouts must say the same",
  ]);
});

test("a task needs a definition, an image and a verifier", () => {
  const whole = {
    "task.toml": "",
    "instruction.md": "x",
    "environment/Dockerfile": "FROM a",
    "tests/test.sh": "#!/bin/sh",
  };
  const without = (path: keyof typeof whole) => {
    const { [path]: _, ...rest } = whole;
    return problemsOf(someFiles(rest));
  };
  expect(problemsOf(someFiles(whole))).toEqual([]);
  expect(without("task.toml")).toEqual(["task.md: is not there, and there is no task.toml either"]);
  expect(without("instruction.md")).toEqual([
    "instruction.md: not there, a task.toml needs one beside it",
  ]);
  expect(without("environment/Dockerfile")).toEqual([
    "environment/Dockerfile: is not there, a task needs it, unless its docker_image names an image",
  ]);
  expect(without("tests/test.sh")).toEqual(["tests/test.sh: is not there, a verifier needs it"]);
  expect(parsed(harborFiles("", { "environment/docker-compose.yaml": "" })).compose).toBe(true);
});

test("a link in the place of a file is named as what it is", () => {
  const files = harborFiles();
  const entries = new Map(files.entries).set("tests/test.sh", anEntry({ kind: "symlink" }));
  expect(problemsOf({ ...files, entries })).toEqual([
    "tests/test.sh: is a link, and links are not followed, a verifier needs it",
  ]);
});

test("unknown keys are warned of where they have no effect and refused where they could", () => {
  const task = toml('extra = 1\n[task]\nname = "a/b"\nversion = "1"\nlicence = "MIT"');
  expect(task.warnings).toEqual([
    "task.toml:1:1: extra is 1, there is no such key, so it has no effect",
    'task.toml:5:1: task.licence is "MIT", there is no such key, so it has no effect',
  ]);
  expect(problemsOf(harborFiles("[environment]\ncpu = 4\n[agent]\ntimeout = 3"))).toEqual([
    "task.toml:2:1: environment.cpu is 4, there is no such key, and one in this section could change what runs",
    "task.toml:4:1: agent.timeout is 3, there is no such key, and one in this section could change what runs",
  ]);
});
