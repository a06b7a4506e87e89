import { expect, test } from "vitest";
import { checkTask } from "../../../core/tasks/check-task.ts";
import { initTask } from "../../../core/tasks/init-task.ts";
import type { TaskFiles } from "../../../core/tasks/task-files.ts";
import { anEntry, harborFiles, nativeFiles, parsed, someFiles } from "./task-builders.ts";

const TOML = "[agent]\ntimeout_sec = 60\n";
const found = (files: TaskFiles) => {
  const { issues, warnings } = checkTask(files);
  return [...issues.map((text) => `→ ${text}`), ...warnings.map((text) => `! ${text}`)];
};
const withFile = (path: string, text: string) => harborFiles(TOML, { [path]: text });

test("a sound task has no finding", () => {
  expect(found(harborFiles(TOML))).toEqual([]);
  expect(checkTask(harborFiles(TOML)).name).toBe("hello");
});

test.each([
  ["an illegal TOML", harborFiles("x = "), "→ task.toml:1:5: invalid value"],
  ["an empty prompt", withFile("instruction.md", " \n"), "→ instruction.md: the prompt is empty"],
  [
    "an empty native prompt",
    nativeFiles("---\nagent: {timeout_sec: 1}\n---\n"),
    "→ task.md: the prompt is empty",
  ],
  [
    "CRLF in a script",
    withFile("tests/test.sh", "#!/bin/bash\r\necho reward.txt\r\n"),
    "→ tests/test.sh: has CRLF line ends",
  ],
  [
    "CRLF in the solution",
    withFile("solution/solve.sh", "#!/bin/bash\r\n"),
    "→ solution/solve.sh: has CRLF line ends",
  ],
  [
    "a byte order mark",
    withFile("solution/solve.sh", "\uFEFF#!/bin/bash\n"),
    "→ solution/solve.sh: begins with a byte order mark",
  ],
  [
    "a Dockerfile that cannot be read",
    withFile("environment/Dockerfile", "FROM a\nFOO"),
    "→ environment/Dockerfile:2: unknown instruction FOO",
  ],
  [
    "a FROM that expands to nothing",
    withFile("environment/Dockerfile", "FROM $X"),
    "→ environment/Dockerfile:1: FROM $X expands to an empty",
  ],
  [
    "a COPY of nothing",
    withFile("environment/Dockerfile", "FROM a:1\nCOPY gone /x"),
    "→ environment/Dockerfile:2: COPY gone: is not in the build context",
  ],
  [
    "an oracle without solve.sh",
    someFiles({
      "task.toml": TOML,
      "instruction.md": "x",
      "environment/Dockerfile": "FROM a:1",
      "tests/test.sh": "#!/bin/sh\n# reward.txt",
      "solution/readme": "x",
    }),
    "→ solution/solve.sh: is not there",
  ],
  [
    "no oracle",
    someFiles({
      "task.toml": TOML,
      "instruction.md": "x",
      "environment/Dockerfile": "FROM a:1",
      "tests/test.sh": "#!/bin/sh\n# reward.txt",
    }),
    "! there is no oracle/ or solution/",
  ],
  [
    "FROM latest",
    withFile("environment/Dockerfile", "FROM a:latest"),
    "! environment/Dockerfile:1: a:latest names no fixed version",
  ],
  [
    "FROM without a tag",
    withFile("environment/Dockerfile", "FROM host:5000/a"),
    "! environment/Dockerfile:1: host:5000/a names no",
  ],
  [
    "ADD from the network",
    withFile("environment/Dockerfile", "FROM a:1\nADD https://x/y /z"),
    "! environment/Dockerfile:2: ADD fetches",
  ],
  ["no #! line", withFile("tests/test.sh", "echo reward.txt"), "! tests/test.sh: has no #! line"],
  [
    "no reward",
    withFile("tests/test.sh", "#!/bin/bash\ntrue"),
    "! tests/test.sh: nothing in it looks like writing",
  ],
  ["no agent timeout", harborFiles(""), "! agent.timeout_sec is not set, an agent gets 900 s"],
  [
    "a timeout of days",
    harborFiles("[agent]\ntimeout_sec = 1e6"),
    "! agent.timeout_sec is 1000000, more than a day",
  ],
  [
    "an unknown key",
    harborFiles(`x = 1\n${TOML}`),
    "! task.toml:1:1: x is 1, there is no such key",
  ],
  [
    "a refusal",
    harborFiles(`${TOML}[environment]\ngpus = 1`),
    "! not run by this edition: sandbox.gpus: no sandbox here has GPUs",
  ],
  [
    "an unused Dockerfile",
    harborFiles(`${TOML}[environment]\ndocker_image = "a:1"`),
    "! environment/Dockerfile: is not used, docker_image names a:1",
  ],
  [
    "a template",
    harborFiles(`${TOML}[environment]\nenv = { A = "\${B}" }`),
    "! sandbox.env.A: asks for the host variable B",
  ],
  [
    "a verifier that fetches without network",
    harborFiles(`${TOML}[environment]\nnetwork_mode = "no-network"`, {
      "tests/test.sh": "#!/bin/sh\ncurl x # reward.txt",
    }),
    "! tests/test.sh: calls curl, but the verifier has no network",
  ],
  [
    "tests in the build context",
    withFile("environment/tests/test.sh", "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n"),
    "! environment/tests/test.sh: is the same file as tests/test.sh",
  ],
])("%s is found", (_, files, finding) => {
  expect(found(files).join("\n")).toContain(finding);
  expect(found(files).filter((line) => line.startsWith(finding))).toHaveLength(1);
});

test("what .dockerignore leaves out cannot be copied", () => {
  const files = harborFiles(TOML, {
    "environment/Dockerfile": "FROM a:1\nCOPY data/x data /d/\nCOPY . /app/",
    "environment/data/x": "1",
    "environment/.dockerignore": "data/x\n",
  });
  expect(found(files)).toEqual([
    "→ environment/Dockerfile:2: COPY data/x: is not in the build context",
  ]);
});

test("a script that is not executable and a link out of the context are warned of", () => {
  const files = harborFiles(TOML);
  const entries = new Map(files.entries)
    .set("tests/test.sh", anEntry({ executable: false }))
    .set("environment/link", anEntry({ kind: "symlink", target: "../../secrets" }));
  expect(found({ ...files, entries })).toEqual([
    "! tests/test.sh: is not executable",
    "! environment/link: is a link out of the build context, to ../../secrets",
  ]);
});

test.each(["harbor", "native"] as const)("a new %s task is sound", (layout) => {
  const files = initTask("my-task", layout);
  const contents = Object.fromEntries(files.map(({ path, content }) => [path, content]));
  const task = someFiles(contents, "my-task");
  expect(found(task)).toEqual([]);
  expect(parsed(task)).toMatchObject({ layout, name: "my-task" });
  expect(files.filter((file) => file.executable).map((file) => file.path)).toEqual(
    layout === "harbor"
      ? ["solution/solve.sh", "tests/test.sh"]
      : ["oracle/solve.sh", "verifier/test.sh"],
  );
});

test("a new task needs a name that tasks can have", () => {
  expect(() => initTask("..")).toThrow(
    '".." cannot name a task: the folder has no name of its own',
  );
});
