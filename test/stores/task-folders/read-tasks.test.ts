import { execFile } from "node:child_process";
import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { Task } from "../../../core/model/task.ts";
import { readTasks } from "../../../stores/task-folders/read-tasks.ts";
import { GOOD, tempFolder, without, writeFiles } from "./temp-tasks.ts";

const names = (all: readonly { name: string }[]) => all.map((each) => each.name);

async function collection(tasks: Record<string, Record<string, string>>): Promise<string> {
  const root = await tempFolder();
  for (const [name, files] of Object.entries(tasks)) await writeFiles(join(root, name), files);
  return root;
}

/** Reads without asking git, whose answer depends on where the test runs. */
const read = (path: string) => readTasks(path, { gitPath: null });

test("a folder of tasks, one task and a folder with tasks/ are read", async () => {
  const root = await collection({
    "tasks/b": GOOD,
    "tasks/a": GOOD,
    "tasks/notes": { "x.md": "" },
  });
  expect(names((await read(join(root, "tasks"))).tasks)).toEqual(["a", "b"]);
  expect(names((await read(root)).tasks)).toEqual(["a", "b"]);
  const [task] = (await read(join(root, "tasks/a"))).tasks;
  expect(task).toEqual(Task.parse(task));
  expect(task).toMatchObject({
    name: "a",
    dir: join(root, "tasks/a"),
    image: { kind: "dockerfile", contextDigest: /^sha256:[0-9a-f]{64}$/u },
    digest: /^sha256:[0-9a-f]{64}$/u,
    source: null,
  });
});

test("one bad task among good ones is listed with its reason, and the good ones are read", async () => {
  const root = await collection({
    good1: GOOD,
    toml: { ...GOOD, "task.toml": 'desc = "/session\\s*/"\n' },
    prompt: without("instruction.md"),
    undefined: without("task.toml"),
    good2: GOOD,
    version: { ...GOOD, "task.toml": 'version = "9.0"' },
    odd: { ...GOOD, "task.toml": '[task]\nname = "a/b"\nversion = "1.2"\nnew = 1' },
  });
  const { tasks, skipped } = await read(root);
  expect(names(tasks)).toEqual(["good1", "good2", "odd"]);
  expect(tasks[2]?.warnings).toHaveLength(1);
  expect(skipped).toEqual([
    { name: "prompt", reason: "instruction.md: not there, a task.toml needs one beside it" },
    {
      name: "toml",
      reason: "task.toml:1:18: unrecognised escape sequence, not valid TOML",
    },
    { name: "undefined", reason: "has neither task.toml nor task.md" },
    {
      name: "version",
      reason: 'task.toml:1:1: version is "9.0", it must be a version with major 1',
    },
  ]);
});

test("names that could break results are refused", async () => {
  const root = await collection({
    ok: GOOD,
    "caf\u00e9": GOOD,
    "cafe\u0301": GOOD,
    Case: GOOD,
    case: GOOD,
    ["x".repeat(201)]: GOOD,
    "bell\u0007": GOOD,
    t__0123abcd: GOOD,
  });
  const { tasks, skipped } = await read(root);
  expect(names(tasks)).toEqual(["ok"]);
  expect(skipped.map((each) => each.reason).toSorted()).toEqual(
    [
      'the name differs from "Case" only in case or accents, some systems take both for one',
      'the name differs from "cafe\u0301" only in case or accents, some systems take both for one',
      'the name differs from "caf\u00e9" only in case or accents, some systems take both for one',
      'the name differs from "case" only in case or accents, some systems take both for one',
      "the name ends like a trial's folder, __ and 8 hex digits",
      "the name has 201 bytes, at most 200 fit",
      "the name holds control characters",
    ].toSorted(),
  );
});

test("a huge definition is refused by its size, unread", async () => {
  const root = await collection({ big: GOOD, script: GOOD });
  await truncate(join(root, "big/task.toml"), 1024 ** 3);
  await truncate(join(root, "script/tests/test.sh"), 3 * 1024 ** 2);
  const started = performance.now();
  const { skipped } = await read(root);
  expect(performance.now() - started).toBeLessThan(2000);
  expect(skipped).toEqual([
    { name: "big", reason: "task.toml: has 1073741824 bytes, at most 1048576 are read" },
    { name: "script", reason: "tests/test.sh: has 3145728 bytes, at most 1048576 are read" },
  ]);
});

test("links out of a task are not followed, pipes are not opened", async () => {
  const outside = await writeFiles(await tempFolder(), {
    secret: "agent = 1",
    "real/task.toml": "",
  });
  const root = await collection({
    good: { ...GOOD, "environment/data": `->${outside}` },
    definition: { ...without("task.toml"), "task.toml": `->${outside}/secret` },
    verifier: { ...without("tests/test.sh"), tests: `->${outside}` },
    pipe: GOOD,
  });
  await symlink(join(outside, "real"), join(root, "linked"));
  await promisify(execFile)("mkfifo", [join(root, "pipe/environment/fifo")]);
  const { tasks, skipped } = await read(root);
  expect(names(tasks)).toEqual(["good", "pipe"]);
  expect(skipped).toEqual([
    {
      name: "definition",
      reason: "task.md: is not there, and there is no task.toml either",
    },
    { name: "linked", reason: "is a link to a folder, and links are not followed" },
    {
      name: "verifier",
      reason: "tests: is a link, and links are not followed, a verifier needs it",
    },
  ]);
});

test("text that is no UTF-8 is refused in definitions, and so are such file names", async () => {
  const root = await collection({ bytes: GOOD, names: GOOD, script: GOOD });
  await writeFile(join(root, "bytes/instruction.md"), Buffer.from([0x61, 0xff]));
  await writeFile(
    Buffer.concat([Buffer.from(join(root, "names/environment/")), Buffer.from([0x66, 0xff])]),
    "",
  );
  await writeFile(join(root, "script/tests/test.sh"), Buffer.from([0x23, 0x21, 0xff]));
  const { tasks, skipped } = await read(root);
  expect(names(tasks)).toEqual(["script"]);
  expect(skipped).toEqual([
    { name: "bytes", reason: "instruction.md: is not valid UTF-8" },
    { name: "names", reason: 'environment: a file name is not valid UTF-8: "fÿ"' },
  ]);
});

test("a .dockerignore that Docker refuses is the task's reason", async () => {
  const root = await collection({ t: { ...GOOD, "environment/.dockerignore": "[a" } });
  expect((await read(root)).skipped[0]?.reason).toContain("environment/.dockerignore: pattern");
});

test.each([
  ["missing", "no such folder: "],
  ["file", "not a folder: "],
  ["empty", "no tasks in "],
])("a path that is %s is an error with a next step", async (name, message) => {
  const root = await tempFolder();
  await writeFile(join(root, "file"), "");
  await mkdir(join(root, "empty"));
  await expect(read(join(root, name))).rejects.toMatchObject({
    kind: "config",
    message: expect.stringContaining(message + join(root, name)),
    next: expect.stringMatching(/give a task's folder|bench tasks init/u),
  });
});
